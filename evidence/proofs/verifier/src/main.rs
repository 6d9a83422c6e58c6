use verifpal::{Run, Verbosity, set_verbosity, verify_report_with_source_opts};

/// Takes the path of a model and the number of sessions of each principal.
fn main() {
    let [path, sessions] = std::env::args().skip(1).collect::<Vec<_>>().try_into().expect("PATH SESSIONS");
    set_verbosity(Verbosity::Silent);
    let (outcome, source) = match verify_report_with_source_opts(&path, sessions.parse().expect("SESSIONS"), false) {
        Ok((report, source)) => (Ok(report), source),
        Err(error) => (Err(error.to_string()), String::new()),
    };
    let run = Run::of("1.6.7", &[(path, outcome)], &[source]);
    println!("{}", serde_json::to_string(&run).expect("JSON"));
}
