// tracediff in Rust, with rusqlite and its feature load_extension.
// usage: cargo run -- EXTENSION CONTROL TEST
//
// Trap: loading is unsafe, and enabled only as long as the guard lives: where it is forgotten (mem::forget), any
// SQL of this connection can load libraries.
use rusqlite::{Connection, LoadExtensionGuard, Result};

fn main() -> Result<()> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let db = Connection::open_in_memory()?;
    unsafe {
        let _enabled = LoadExtensionGuard::new(&db)?;
        db.load_extension(&given[0], None::<&str>)?;
    }

    let mut diff = db.prepare(
        "SELECT format('%+.1f', diff_time), class, trace_short_name(name)
         FROM trace_step_diff(?, ?) LIMIT 3")?;
    let mut rows = diff.query([&given[1], &given[2]])?;
    while let Some(row) = rows.next()? {
        let (us, class, name): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        println!("{us}|{class}|{name}");
    }
    let start: i64 = db.query_row("SELECT min(ts_ns) FROM trace_events(?)", [&given[2]], |row| row.get(0))?;
    println!("{start}");
    Ok(())
}
