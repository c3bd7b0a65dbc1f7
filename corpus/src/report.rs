//! The outcome of cases on a backend.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::case::Case;
use crate::gaps::Gap;

/// A case that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseFailure {
    /// The case's id.
    pub case: String,
    /// The problems, a sentence each.
    pub problems: Vec<String>,
}

/// The outcome of cases on a backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The backend's name.
    pub backend: String,
    /// Ids of the cases that passed.
    pub passed: Vec<String>,
    /// Those that failed.
    pub failed: Vec<CaseFailure>,
}

impl Gap {
    /// Whether the failure is the one that is declared.
    fn explains(&self, failure: &CaseFailure) -> bool {
        let says = self.says.as_deref().unwrap_or("");
        self.case == failure.case && failure.problems.iter().all(|problem| problem.starts_with(says))
    }
}

impl Report {
    pub(crate) fn collect(backend: &str, cases: &[Case], check: impl Fn(&Case) -> Vec<String>) -> Self {
        let mut report = Self { backend: backend.to_owned(), passed: Vec::new(), failed: Vec::new() };
        for case in cases {
            let problems = guarded(|| check(case)).unwrap_or_else(|panic| vec![panic]);
            match CaseFailure::of(case, problems) {
                Some(failure) => report.failed.push(failure),
                None => report.passed.push(case.id().to_owned()),
            }
        }
        report
    }

    /// Fails where the outcome and the declared gaps differ: a case failed that is not declared, a declared
    /// one passed, or there is no such case. The message lists all of them.
    pub fn against(&self, gaps: &[Gap]) -> Result<(), String> {
        let own: Vec<&Gap> = gaps.iter().filter(|gap| gap.backend == self.backend).collect();
        let declared: Vec<&str> = own.iter().map(|gap| gap.case.as_str()).collect();
        let is_declared = |failure: &CaseFailure| own.iter().any(|gap| gap.explains(failure));
        let mut message = String::new();
        for failure in self.failed.iter().filter(|failure| !is_declared(failure)) {
            // Writing to a string cannot fail.
            let _ = writeln!(message, "{} on {}:", failure.case, self.backend);
            for problem in &failure.problems {
                let _ = writeln!(message, "    {problem}");
            }
        }
        for case in declared {
            if self.passed.iter().any(|passed| passed == case) {
                let _ = writeln!(message, "{case} on {} passes; take it off corpus/gaps.toml", self.backend);
            } else if !self.failed.iter().any(|failure| failure.case == case) {
                let _ =
                    writeln!(message, "there is no case {case}; correct or remove it in corpus/gaps.toml");
            }
        }
        if message.is_empty() { Ok(()) } else { Err(message) }
    }

    /// How many declared gaps still are gaps.
    pub fn open_gaps(&self, gaps: &[Gap]) -> usize {
        let is_open = |gap: &&Gap| {
            gap.backend == self.backend && self.failed.iter().any(|failure| failure.case == gap.case)
        };
        gaps.iter().filter(is_open).count()
    }
}

/// Runs `check`; a panic becomes a message, so that it does not hide what other cases would say.
pub(crate) fn guarded<T>(check: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(check)).map_err(|cause| {
        let message = cause.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| cause.downcast_ref::<&str>().copied());
        format!("panics: {}", message.unwrap_or("without a message"))
    })
}

/// Reports side by side: backend, cases, passed, declared gaps, failures that are not declared.
pub fn table(reports: &[Report], gaps: &[Gap]) -> String {
    let mut out = format!("{:<16} {:>6} {:>7} {:>5} {:>7}\n", "backend", "cases", "passed", "gaps", "failed");
    for report in reports {
        let open = report.open_gaps(gaps);
        let _ = writeln!(
            out,
            "{:<16} {:>6} {:>7} {:>5} {:>7}",
            report.backend,
            report.passed.len() + report.failed.len(),
            report.passed.len(),
            open,
            report.failed.len() - open,
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(passed: &[&str], failed: &[&str]) -> Report {
        let failure = |case: &&str| CaseFailure { case: (*case).into(), problems: vec!["wrong".into()] };
        Report {
            backend: "slow".into(),
            passed: passed.iter().map(|case| (*case).to_owned()).collect(),
            failed: failed.iter().map(failure).collect(),
        }
    }

    fn gap(case: &str) -> Gap {
        Gap { case: case.into(), backend: "slow".into(), reason: "unfinished".into(), says: None }
    }

    #[test]
    fn a_declined_case_fails_in_no_other_way() {
        let declined = |says: &str| Gap { says: Some(says.into()), ..gap("b") };
        assert_eq!(report(&["a"], &["b"]).against(&[declined("wro")]), Ok(()));
        assert!(report(&["a"], &["b"]).against(&[declined("left recursion")]).is_err());
    }

    #[test]
    fn gaps_are_asserted_both_ways() {
        assert_eq!(report(&["a"], &["b"]).against(&[gap("b")]), Ok(()));
        let undeclared = report(&["a"], &["b"]).against(&[]).unwrap_err();
        assert!(undeclared.contains("b on slow"), "{undeclared}");
        let mended = report(&["a", "b"], &[]).against(&[gap("b")]).unwrap_err();
        assert!(mended.contains("take it off"), "{mended}");
        let unknown = report(&["a"], &[]).against(&[gap("b")]).unwrap_err();
        assert!(unknown.contains("no case b"), "{unknown}");
    }

    #[test]
    fn table_counts_gaps_apart_from_failures() {
        let text = table(&[report(&["a"], &["b", "c"])], &[gap("b")]);
        let row: Vec<&str> = text.lines().last().expect("a row").split_whitespace().collect();
        assert_eq!(row, ["slow", "3", "1", "1", "1"]);
    }
}
