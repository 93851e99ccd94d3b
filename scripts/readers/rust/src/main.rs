//! Reads plans by the crate `substrait`, or explains them by `substrait-explain`, and writes why for each of which it can't.

use std::{env, error::Error, fs, path::Path};

use prost::Message;
use substrait::proto::Plan;

fn main() {
    let mut arguments = env::args().skip(1);
    let explains = arguments.next().as_deref() == Some("explain");
    for file in arguments {
        if let Err(error) = take(&file, explains) {
            let name = Path::new(&file).file_name().unwrap_or_default().to_string_lossy();
            println!("{name}: {}", error.to_string().lines().next().unwrap_or_default());
        }
    }
}

fn take(file: &str, explains: bool) -> Result<(), Box<dyn Error>> {
    let content = fs::read(file)?;
    let plan = Plan::decode(content.as_slice())?;
    if explains {
        let (_, errors) = substrait_explain::format(&plan);
        return errors.into_iter().next().map_or(Ok(()), |error| Err(error.to_string().into()));
    }
    Ok(())
}
