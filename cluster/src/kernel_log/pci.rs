//! PCI addresses in lines of the kernel log.

const FORM: &[u8] = b"xxxx:xx:xx.x";

/// The first `hhhh:hh:hh.h` in a line.
#[must_use]
pub fn pci_address(line: &str) -> Option<&str> {
    let bytes = line.as_bytes().windows(FORM.len());
    let is_address = |window: &[u8]| {
        let mut pairs = window.iter().zip(FORM);
        pairs.all(|(byte, form)| match form {
            b'x' => byte.is_ascii_hexdigit(),
            form => byte == form,
        })
    };
    let at = bytes.enumerate().find(|(_, window)| is_address(window))?.0;
    line.get(at..at + FORM.len())
}
