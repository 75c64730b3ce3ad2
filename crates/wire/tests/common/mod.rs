/// Bytes from hexadecimal digits, spaces between them as one likes.
pub fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16).unwrap() as u8).collect();
    assert!(digits.len().is_multiple_of(2), "half a byte in {hex}");
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}
