//! The choice between the three kinds of drives as questions, asked in the order in which their answers rule kinds out.
//! ```text
//! may the rate fall for a while? ── yes ──────────────────────────────► cost or performance?
//!        │ no
//! can there be pauses, or writes in order? ── yes ──► (used so) ──────► cost or performance?
//!        │ no
//! will a part of the capacity do? ── yes ──► (used so) ───────────────► cost or performance?
//!        │ no
//!        └──► steadiness or performance?
//! ```

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answers {
    pub tolerates_fall: Option<bool>,
    /// Whether the writes can be spread, with pauses, or put in order.
    pub changes_workload: Option<bool>,
    pub clips: Option<bool>,
    pub prefers: Option<Preference>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preference {
    Cost,
    Performance,
    Steadiness,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Cmr,
    Smr,
    Flash,
}

/// How a drive is to be used so that its rate stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    AsItComes,
    PausesOrOrder,
    Clipped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    ToleratesFall,
    ChangesWorkload,
    Clips,
    Prefers,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    pub asked: Vec<(Question, &'static str)>,
    /// The kind and its way of use, and why; or the question that has to be answered next.
    pub end: Result<Choice, Question>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    pub kind: Kind,
    pub way: Way,
    pub reason: &'static str,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Cmr => "cmr",
            Kind::Smr => "smr",
            Kind::Flash => "flash",
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Kind::Cmr => "a hard disk with conventional recording (CMR)",
            Kind::Smr => "a hard disk with shingled recording (SMR)",
            Kind::Flash => "an SSD",
        }
    }
}

impl Question {
    pub fn words(self) -> &'static str {
        match self {
            Question::ToleratesFall => "May write throughput drop for a while?",
            Question::ChangesWorkload => {
                "Can you leave idle time between writes, or write sequentially in large blocks?"
            }
            Question::Clips => "Is a part of the capacity enough?",
            Question::Prefers => "What counts most: cost, performance or steadiness?",
        }
    }

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
            (Kind::Smr, "Write cliffs do not matter, and SMR disks cost least per TB.")
        }
        (Some(Way::PausesOrOrder), Preference::Cost) => (
            Kind::Smr,
            "With idle time or sequential writes its media cache does not fill, and it costs least per TB.",
        ),
        (Some(Way::Clipped), Preference::Cost) => {
            (Kind::Smr, "Within its media cache there is no write cliff, and it costs least per TB.")
        }
        (Some(Way::Clipped), Preference::Performance) => (
            Kind::Flash,
            "Unused SSD capacity serves as over-provisioning, which raises steady-state throughput.",
        ),
        (Some(_), Preference::Performance) => {
            (Kind::Flash, "It is the fastest, before and after the write cliff.")
        }
        (None, Preference::Performance) => (
            Kind::Flash,
            "Nothing sustains random writes as fast as an SSD. Choose one with enough sustained throughput.",
        ),
        (None, Preference::Cost) => (
            Kind::Cmr,
            "A write cliff is neither acceptable nor avoidable. CMR disks have none and cost less per TB than SSDs.",
        ),
        (_, Preference::Steadiness) => (
            Kind::Cmr,
            "It has no media cache to fill: random writes are as slow on the last day as on the first.",
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
