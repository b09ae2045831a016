//! A Rust file as a flat list of tokens, each with its line: a rule sees into macros and attributes, but never into strings or comments.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An identifier, keyword or lifetime's name.
    Word,
    Sign,
    Open,
    Close,
    Literal,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: Kind,
    pub text: String,
    pub line: usize,
    /// Of a delimiter: where in the list the other one is.
    pub partner: usize,
}

impl Token {
    /// Whether it is this word, sign or delimiter.
    pub fn is(&self, text: &str) -> bool {
        self.kind != Kind::Literal && self.text == text
    }

    pub fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }
}

/// All tokens of a stream in the order of the text.
pub fn flatten(stream: TokenStream) -> Vec<Token> {
    let mut tokens = Vec::new();
    add_stream(stream, &mut tokens);
    tokens
}

fn add_stream(stream: TokenStream, tokens: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace | Delimiter::None => ("{", "}"),
                };
                let first = tokens.len();
                tokens.push(Token { kind: Kind::Open, text: open.to_owned(), line, partner: 0 });
                add_stream(group.stream(), tokens);
                let last = tokens.len();
                tokens[first].partner = last;
                let line = group.span_close().start().line;
                tokens.push(Token { kind: Kind::Close, text: close.to_owned(), line, partner: first });
            }
            TokenTree::Ident(word) => {
                tokens.push(Token { kind: Kind::Word, text: word.to_string(), line, partner: 0 });
            }
            TokenTree::Punct(sign) => {
                tokens.push(Token { kind: Kind::Sign, text: sign.as_char().to_string(), line, partner: 0 });
            }
            TokenTree::Literal(literal) => {
                tokens.push(Token { kind: Kind::Literal, text: literal.to_string(), line, partner: 0 });
            }
        }
    }
}

pub fn begins_with(tokens: &[Token], texts: &[&str]) -> bool {
    tokens.len() >= texts.len() && tokens.iter().zip(texts).all(|(token, text)| token.is(text))
}

/// Where the item that begins at `first` ends: at its `;`, the `}` of its body, or before the end of what it stands in.
pub fn end_of_item(tokens: &[Token], first: usize) -> usize {
    let mut index = first;
    while index < tokens.len() {
        let token = &tokens[index];
        match token.kind {
            Kind::Sign if token.text == ";" => return index,
            // Braces of `use a::{b};` end nothing.
            Kind::Open
                if token.text == "{"
                    && !matches!(tokens.get(token.partner + 1), Some(next) if next.is(";")) =>
            {
                return token.partner;
            }
            Kind::Open => index = token.partner + 1,
            Kind::Close => return index - 1,
            _ => index += 1,
        }
    }
    tokens.len() - 1
}
