//! Lengths, times, speeds and losses as they are typed and shown.

use std::str::FromStr;
use std::time::Duration;

use tanist_sim::world::places::Area;
use tanist_sim::world::topology::Fading;

/// Decimetres in metres.
pub(super) fn metres(decimetres: u32) -> String {
    match decimetres % 10 {
        0 => (decimetres / 10).to_string(),
        rest => format!("{}.{rest}", decimetres / 10),
    }
}

/// Reads metres, or metres per second, as whole decimetres.
fn decimetres(text: &str) -> Result<u32, String> {
    let expected = || format!("{text:?} is not a number from 0.1 to {LENGTH_MAX}");
    let value: f64 = text.trim().parse().map_err(|_| expected())?;
    if !(0.1..=LENGTH_MAX).contains(&value) {
        return Err(expected());
    }
    Ok(rounded(value * 10.0))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked before")]
fn rounded(value: f64) -> u32 {
    value.round() as u32
}

/// Metres.
#[derive(Clone, Copy, Debug)]
pub(super) struct Length(pub(super) u32);

impl FromStr for Length {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        decimetres(text).map(Self)
    }
}

/// A time, longer than none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span(pub(super) Duration);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        crate::duration::read(text).map(Self)
    }
}

/// Width and height of the ground.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ground(pub(super) Area);

impl FromStr for Ground {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (width, height) =
            text.split_once('x').ok_or("expected width and height such as 2000x2000")?;
        Ok(Self(Area { width: decimetres(width)?, height: decimetres(height)? }))
    }
}

impl Ground {
    pub(super) fn text(&self) -> String {
        format!("{}x{}", metres(self.0.width), metres(self.0.height))
    }
}

/// The least and the greatest speed, in decimetres per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Speeds {
    pub(super) least: u32,
    pub(super) most: u32,
}

impl FromStr for Speeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (least, most) = text.split_once("..").unwrap_or((text, text));
        let (least, most) = (decimetres(least)?, decimetres(most)?);
        if most < least {
            return Err(format!("{text} is empty: the smaller speed comes first"));
        }
        Ok(Self { least, most })
    }
}

impl Speeds {
    pub(super) fn text(&self) -> String {
        format!("{}..{}", metres(self.least), metres(self.most))
    }
}

/// How much is lost within the range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loss(pub(super) Fading);

impl FromStr for Loss {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "distance" {
            return Ok(Self(Fading::Distance));
        }
        match text.parse::<f64>() {
            Ok(share) if (0.0..=1.0).contains(&share) => {
                Ok(Self(Fading::Flat(rounded(share * 1e6))))
            }
            Ok(_) | Err(_) => Err("expected a share between 0 and 1, or `distance`".to_owned()),
        }
    }
}

impl Loss {
    pub(super) fn text(&self) -> String {
        match self.0 {
            Fading::Flat(ppm) => (f64::from(ppm) / 1e6).to_string(),
            Fading::Distance => "distance".to_owned(),
        }
    }
}

/// A thousand kilometres.
const LENGTH_MAX: f64 = 1e6;

/// Reads a share.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let value: Option<f64> = text.trim().parse().ok();
    let expected = || format!("{text:?} is not a share; write a number from 0 to 1");
    value.filter(|value| (0.0..=1.0).contains(value)).ok_or_else(expected)
}
