//! CSV for people who open it in a spreadsheet (RFC 4180, with plain line ends).

/// One line, with its end.
pub fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
    cells.join(",") + "\n"
}

/// A spreadsheet runs a cell that begins like a formula, whoever wrote it. With a quote
/// in front it is text.
fn cell(text: &str) -> String {
    let runs = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let safe = if runs {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if safe.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", safe.replace('"', "\"\""))
    } else {
        safe
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_stays_one_cell() {
        assert_eq!(row(&["a", "b c", "ü"]), "a,b c,ü\n");
        assert_eq!(row(&["a,b", "say \"hi\""]), "\"a,b\",\"say \"\"hi\"\"\"\n");
        assert_eq!(row(&["two\nlines", ""]), "\"two\nlines\",\n");
    }

    #[test]
    fn a_cell_is_never_a_formula() {
        for formula in ["=1+1", "+1", "-1", "@sum(a1)", "\t=1"] {
            assert!(row(&[formula]).starts_with('\''), "{formula}");
        }
        assert_eq!(
            row(&["=hyperlink(\"x\",1)"]),
            "\"'=hyperlink(\"\"x\"\",1)\"\n"
        );
        assert_eq!(row(&["a=1", "a-b@c.d"]), "a=1,a-b@c.d\n");
    }
}
