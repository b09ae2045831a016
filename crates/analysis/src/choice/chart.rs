//! The choice between the three kinds of drives as questions, asked in the order in which their answers rule kinds out.
//!
//! ```text
//! may the rate fall for a while? ── yes ──────────────────────────────► cost or performance?
//!        │ no
//! can there be pauses, or writes in order? ── yes ──► (used so) ──────► cost or performance?
//!        │ no
//! will a part of the capacity do? ── yes ──► (used so) ───────────────► cost or performance?
//!        │ no
//!        └──► steadiness or performance?
//! ```

/// What somebody has said; nothing where not.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answers {
    /// Whether the write rate may fall for a while.
    pub tolerates_fall: Option<bool>,
    /// Whether the writes can be spread, with pauses, or put in order.
    pub changes_workload: Option<bool>,
    /// Whether a part of the capacity is enough.
    pub clips: Option<bool>,
    /// What counts most.
    pub prefers: Option<Preference>,
}

/// What counts most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preference {
    /// Bytes for the money.
    Cost,
    /// Speed.
    Performance,
    /// The same speed at all times.
    Steadiness,
}

/// A kind of drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A disk with tracks side by side.
    Cmr,
    /// A disk with overlapping tracks.
    Smr,
    /// Flash.
    Flash,
}

/// How a drive is to be used so that its rate stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As it comes.
    AsItComes,
    /// With pauses between bursts, or writes in order.
    PausesOrOrder,
    /// Only a part of it.
    Clipped,
}

/// A question of the chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// May the write rate fall for a while?
    ToleratesFall,
    /// Can the workload be changed?
    ChangesWorkload,
    /// Will a part of the capacity do?
    Clips,
    /// What counts most?
    Prefers,
}

/// Where the answers lead.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// The questions that were asked, with their answers as words.
    pub asked: Vec<(Question, &'static str)>,
    /// The kind and its way of use, and why; or the question that has to be answered next.
    pub end: Result<Choice, Question>,
}

/// A kind, how to use it, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The kind to take.
    pub kind: Kind,
    /// How to use it.
    pub way: Way,
    /// Why: a sentence.
    pub reason: &'static str,
}

impl Kind {
    /// The word in files.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Cmr => "cmr",
            Kind::Smr => "smr",
            Kind::Flash => "flash",
        }
    }

    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Cmr => "a hard disk with tracks side by side (CMR)",
            Kind::Smr => "a hard disk with overlapping tracks (SMR)",
            Kind::Flash => "an SSD",
        }
    }
}

impl Question {
    /// The question, for people.
    pub fn words(self) -> &'static str {
        match self {
            Question::ToleratesFall => "May the write rate fall for a while?",
            Question::ChangesWorkload => {
                "Can you leave time between the writes, or write in order and in large pieces?"
            }
            Question::Clips => "Will a part of the capacity do?",
            Question::Prefers => "What counts most: cost, performance or steadiness?",
        }
    }

    /// What to type to answer it.
    pub fn option(self) -> &'static str {
        match self {
            Question::ToleratesFall => "--tolerate-fall yes|no",
            Question::ChangesWorkload => "--change-workload yes|no",
            Question::Clips => "--clip yes|no",
            Question::Prefers => "--prefer cost|performance|steadiness",
        }
    }
}

impl Answers {
    /// Follows the chart as far as the answers go.
    pub fn course(&self) -> Course {
        let mut asked = Vec::new();
        let end = self.follow(&mut asked);
        Course { asked, end }
    }

    fn follow(&self, asked: &mut Vec<(Question, &'static str)>) -> Result<Choice, Question> {
        let mut says_yes = |question: Question, answer: Option<bool>| {
            let answer = answer.ok_or(question)?;
            asked.push((question, if answer { "yes" } else { "no" }));
            Ok(answer)
        };
        let way = if says_yes(Question::ToleratesFall, self.tolerates_fall)? {
            Some(Way::AsItComes)
        } else if says_yes(Question::ChangesWorkload, self.changes_workload)? {
            Some(Way::PausesOrOrder)
        } else if says_yes(Question::Clips, self.clips)? {
            Some(Way::Clipped)
        } else {
            None
        };
        let prefers = self.prefers.ok_or(Question::Prefers)?;
        asked.push((Question::Prefers, prefers.name()));
        Ok(chosen(way, prefers))
    }
}

impl Preference {
    /// The word in files and options.
    pub fn name(self) -> &'static str {
        match self {
            Preference::Cost => "cost",
            Preference::Performance => "performance",
            Preference::Steadiness => "steadiness",
        }
    }
}

/// What is left to take, when the fall is dealt with in that way or in none.
fn chosen(way: Option<Way>, prefers: Preference) -> Choice {
    let (kind, reason) = match (way, prefers) {
        (Some(Way::AsItComes), Preference::Cost) => {
            (Kind::Smr, "A fall does not matter, and shingled disks hold most for the money.")
        }
        (Some(Way::PausesOrOrder), Preference::Cost) => (
            Kind::Smr,
            "With pauses, or writes in order, its cache does not fill, and it holds most for the money.",
        ),
        (Some(Way::Clipped), Preference::Cost) => {
            (Kind::Smr, "Within what its cache holds it does not fall, and it holds most for the money.")
        }
        (Some(Way::Clipped), Preference::Performance) => (
            Kind::Flash,
            "What is not used of an SSD is room for its own work, so that it does not fall as far.",
        ),
        (Some(_), Preference::Performance) => (Kind::Flash, "It is the fastest, before a fall and after it."),
        (None, Preference::Performance) => (
            Kind::Flash,
            "Nothing else is as fast after its fall as an SSD. Take one whose lasting rate is enough.",
        ),
        (None, Preference::Cost) => (
            Kind::Cmr,
            "The fall can be neither borne nor avoided, and of the two kinds without one such as a shingled disk has, disks hold \
             more for the money.",
        ),
        (_, Preference::Steadiness) => (
            Kind::Cmr,
            "It has no cache to fill: it writes at random as slowly on the last day as on the first.",
        ),
    };
    Choice { kind, way: way.unwrap_or(Way::AsItComes), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(fall: bool, change: bool, clip: bool, prefers: Preference) -> Answers {
        Answers {
            tolerates_fall: Some(fall),
            changes_workload: Some(change),
            clips: Some(clip),
            prefers: Some(prefers),
        }
    }

    fn end(answers: Answers) -> (Kind, Way) {
        answers.course().end.map(|choice| (choice.kind, choice.way)).unwrap()
    }

    #[test]
    fn the_chart_of_the_article() {
        use Preference::{Cost, Performance, Steadiness};
        assert_eq!(end(answers(true, false, false, Cost)), (Kind::Smr, Way::AsItComes));
        assert_eq!(end(answers(true, false, false, Performance)), (Kind::Flash, Way::AsItComes));
        assert_eq!(end(answers(false, true, false, Cost)), (Kind::Smr, Way::PausesOrOrder));
        assert_eq!(end(answers(false, false, true, Performance)), (Kind::Flash, Way::Clipped));
        assert_eq!(end(answers(false, false, false, Steadiness)), (Kind::Cmr, Way::AsItComes));
        assert_eq!(end(answers(false, false, false, Performance)), (Kind::Flash, Way::AsItComes));
    }

    #[test]
    fn what_is_not_answered_is_asked_next() {
        let mut some = Answers::default();
        assert_eq!(some.course(), Course { asked: vec![], end: Err(Question::ToleratesFall) });
        some.tolerates_fall = Some(true);
        let course = some.course();
        assert_eq!(course.asked, [(Question::ToleratesFall, "yes")]);
        assert_eq!(course.end, Err(Question::Prefers), "a fall that is borne needs no change");
    }
}
