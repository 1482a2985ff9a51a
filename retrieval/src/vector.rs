//! Vectors as they are computed, and as they are kept: a byte a dimension, with the model that made them.

/// Length of a vector.
pub const DIMENSIONS: usize = 384;

/// A model, as it is named beside every vector that it made: vectors of different models can't be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModelId {
    /// Its name.
    pub name: &'static str,
    /// First bytes of the SHA-256 of its weights.
    pub version: [u8; 8],
}

/// A unit vector, so that a dot product is a cosine.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector(Box<[f32; DIMENSIONS]>);

impl Vector {
    /// Scales `values` to unit length. Values without a length (all zero, or not finite) give the zero vector, which is like
    /// nothing.
    pub fn unit(mut values: Box<[f32; DIMENSIONS]>) -> Self {
        let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
        let factor = if length.is_finite() && length > 0.0 {
            length.recip()
        } else {
            0.0
        };
        for value in values.iter_mut() {
            *value = if factor == 0.0 { 0.0 } else { *value * factor };
        }
        Self(values)
    }

    /// The numbers.
    pub fn values(&self) -> &[f32; DIMENSIONS] {
        &self.0
    }

    /// The cosine of two vectors, from -1 to 1.
    pub fn cosine(&self, other: &Self) -> f32 {
        self.0.iter().zip(other.0.iter()).map(|(a, b)| a * b).sum()
    }
}

/// A vector in a byte a dimension: about 0.2 % of a cosine is lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Packed {
    /// What a stored 1 stands for.
    scale: f32,
    values: Box<[i8; DIMENSIONS]>,
}

/// Version of the blob's layout.
const LAYOUT: u8 = 1;

/// Length of a blob: layout, model version, scale (little-endian), values.
pub const BLOB_BYTES: usize = 1 + 8 + 4 + DIMENSIONS;

/// Why a blob is no vector that can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlobError {
    /// Another model or another layout made it: it has to be computed again.
    #[error("the vector was made by another model")]
    OtherModel,
    /// Not a vector at all.
    #[error("the vector can't be read")]
    Malformed,
}

impl Packed {
    /// Rounds a vector.
    pub fn of(vector: &Vector) -> Self {
        let largest = vector
            .values()
            .iter()
            .fold(0.0_f32, |most, value| most.max(value.abs()));
        let scale = largest / 127.0;
        let mut values = Box::new([0_i8; DIMENSIONS]);
        if scale > 0.0 {
            for (kept, value) in values.iter_mut().zip(vector.values()) {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "the quotient is between -127 and 127"
                )]
                let rounded = (value / scale).round() as i8;
                *kept = rounded;
            }
        }
        Self { scale, values }
    }

    /// What a stored 1 stands for.
    pub(crate) fn scale(&self) -> f32 {
        self.scale
    }

    /// The rounded numbers.
    pub(crate) fn values(&self) -> &[i8; DIMENSIONS] {
        &self.values
    }

    /// The cosine with another rounded vector.
    pub fn cosine(&self, other: &Self) -> f32 {
        scaled(dot(&self.values, &other.values), self.scale * other.scale)
    }

    /// The bytes that a store keeps.
    pub fn to_blob(&self, model: ModelId) -> Vec<u8> {
        let mut blob = Vec::with_capacity(BLOB_BYTES);
        blob.push(LAYOUT);
        blob.extend(model.version);
        blob.extend(self.scale.to_le_bytes());
        blob.extend(self.values.iter().map(|value| value.to_le_bytes()[0]));
        blob
    }

    /// Reads what a store kept for `model`.
    pub fn from_blob(blob: &[u8], model: ModelId) -> Result<Self, BlobError> {
        let (&layout, rest) = blob.split_first().ok_or(BlobError::Malformed)?;
        let (version, rest) = rest.split_first_chunk::<8>().ok_or(BlobError::Malformed)?;
        if layout != LAYOUT || *version != model.version {
            return Err(BlobError::OtherModel);
        }
        let (scale, rest) = rest.split_first_chunk::<4>().ok_or(BlobError::Malformed)?;
        let scale = f32::from_le_bytes(*scale);
        if rest.len() != DIMENSIONS || !scale.is_finite() || scale < 0.0 {
            return Err(BlobError::Malformed);
        }
        let mut values = Box::new([0_i8; DIMENSIONS]);
        for (value, byte) in values.iter_mut().zip(rest) {
            *value = i8::from_le_bytes([*byte]);
        }
        Ok(Self { scale, values })
    }
}

/// Sum of the products. 384 products of two bytes fit in 32 bits, so nothing wraps; that it may lets the compiler use the processor's
/// own multiply-and-add where overflow is checked everywhere else.
pub(crate) fn dot(a: &[i8; DIMENSIONS], b: &[i8; DIMENSIONS]) -> i32 {
    a.iter().zip(b).fold(0_i32, |sum, (a, b)| {
        sum.wrapping_add(i32::from(i16::from(*a).wrapping_mul(i16::from(*b))))
    })
}

/// A sum of products as a cosine.
pub(crate) fn scaled(dot: i32, scale: f32) -> f32 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "at most 384 * 128 * 128, which f32 holds exactly"
    )]
    let dot = dot as f32;
    dot * scale
}

#[cfg(test)]
mod tests {
    //! Rounding loses little, and a blob is read as it was written or not at all.

    use proptest::prelude::*;

    use super::*;

    const MODEL: ModelId = ModelId {
        name: "one",
        version: *b"12345678",
    };

    fn vector() -> impl Strategy<Value = Vector> {
        proptest::collection::vec(-1.0_f32..1.0, DIMENSIONS)
            .prop_map(|values| Vector::unit(Box::new(values.try_into().unwrap())))
    }

    proptest! {
        #[test]
        fn a_packed_cosine_is_close_to_the_exact_one(a in vector(), b in vector()) {
            let packed = Packed::of(&a).cosine(&Packed::of(&b));
            prop_assert!((packed - a.cosine(&b)).abs() < 0.005);
            prop_assert!((Packed::of(&a).cosine(&Packed::of(&a)) - 1.0).abs() < 0.005);
        }

        #[test]
        fn a_blob_is_read_as_it_was_written(a in vector()) {
            let packed = Packed::of(&a);
            let blob = packed.to_blob(MODEL);
            prop_assert_eq!(blob.len(), BLOB_BYTES);
            prop_assert_eq!(Packed::from_blob(&blob, MODEL), Ok(packed));
        }

        #[test]
        fn any_bytes_are_a_vector_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..500)) {
            if let Ok(packed) = Packed::from_blob(&bytes, MODEL) {
                prop_assert!(packed.cosine(&packed).is_finite());
            }
        }
    }

    #[test]
    fn a_blob_of_another_model_or_length_is_refused() {
        let packed = Packed::of(&Vector::unit(Box::new([1.0; DIMENSIONS])));
        let blob = packed.to_blob(MODEL);
        let other = ModelId {
            version: *b"other123",
            ..MODEL
        };
        assert_eq!(Packed::from_blob(&blob, other), Err(BlobError::OtherModel));
        let mut layout = blob.clone();
        layout[0] = 2;
        assert_eq!(
            Packed::from_blob(&layout, MODEL),
            Err(BlobError::OtherModel)
        );
        for length in [0, 1, 8, 9, 12, 13, BLOB_BYTES - 1] {
            assert_eq!(
                Packed::from_blob(&blob[..length], MODEL),
                Err(BlobError::Malformed),
                "{length}"
            );
        }
    }

    #[test]
    fn what_has_no_direction_is_like_nothing() {
        for value in [0.0, f32::NAN, f32::INFINITY] {
            let nothing = Vector::unit(Box::new([value; DIMENSIONS]));
            assert!(nothing.values().iter().all(|value| *value == 0.0));
            assert!(Packed::of(&nothing).cosine(&Packed::of(&nothing)).abs() < 1e-9);
        }
    }
}
