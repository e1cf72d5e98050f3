//! Names that this side makes up: random, so that two windows never meet.

/// 128 random bits, in hex.
pub fn fresh() -> String {
    let mut bytes = [0u8; 16];
    let drawn = web_sys::window().and_then(|window| window.crypto().ok()).map(|crypto| crypto.get_random_values_with_u8_array(&mut bytes));
    if !matches!(drawn, Some(Ok(_))) {
        for byte in &mut bytes {
            *byte = (js_sys::Math::random() * 256.0) as u8;
        }
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
