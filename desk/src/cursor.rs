//! Page cursors: the place in a list, tied to the list and its filter.
//!
//! A cursor that is used with another filter or order would skip rows silently, so it carries a hash of both and is
//! refused there (field report 3). It is no secret and gives no right: what it leads to is checked like any call.

use std::hash::{Hash, Hasher};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::{Keyset, PageRequest, limits};

use crate::InvalidArgument;

/// FNV-1a: the same on every platform and version, which the standard library's hasher does not promise.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

fn fingerprint(list: &str, filter: &impl Hash) -> u64 {
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    list.hash(&mut hasher);
    filter.hash(&mut hasher);
    hasher.finish()
}

/// The cursor of the page that begins after a place.
pub(crate) fn encode(list: &str, filter: &impl Hash, place: Keyset) -> String {
    let mut bytes = [0_u8; 24];
    let parts = [
        fingerprint(list, filter).to_be_bytes(),
        place.key.to_be_bytes(),
        place.id.to_be_bytes(),
    ];
    for (slot, byte) in bytes.iter_mut().zip(parts.iter().flatten()) {
        *slot = *byte;
    }
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A page of a list from what a caller gave.
pub(crate) fn page(
    list: &str,
    filter: &impl Hash,
    limit: Option<u16>,
    cursor: Option<&str>,
) -> Result<PageRequest, InvalidArgument> {
    let limit = limit.unwrap_or(limits::PAGE_DEFAULT);
    if !(1..=limits::PAGE_MAX).contains(&limit) {
        return Err(InvalidArgument::new(
            "limit",
            format!("must be 1 to {}, and is {limit}", limits::PAGE_MAX),
        ));
    }
    let after = cursor
        .map(|cursor| decode(list, filter, cursor))
        .transpose()?;
    Ok(PageRequest::new(limit, after))
}

fn decode(list: &str, filter: &impl Hash, cursor: &str) -> Result<Keyset, InvalidArgument> {
    let unreadable = || {
        InvalidArgument::new(
            "cursor",
            "is not one that this server made; pass `next_cursor` of the page before as it is",
        )
    };
    let bytes = URL_SAFE_NO_PAD
        .decode(cursor.trim())
        .map_err(|_detail| unreadable())?;
    let (hash, rest) = bytes.split_first_chunk::<8>().ok_or_else(unreadable)?;
    let (key, id) = rest.split_first_chunk::<8>().ok_or_else(unreadable)?;
    let id: [u8; 8] = id.try_into().map_err(|_detail| unreadable())?;
    if u64::from_be_bytes(*hash) != fingerprint(list, filter) {
        return Err(InvalidArgument::new(
            "cursor",
            "belongs to another list, filter or order; repeat the other arguments as they were, or leave the cursor out",
        ));
    }
    Ok(Keyset {
        key: i64::from_be_bytes(*key),
        id: i64::from_be_bytes(id),
    })
}

#[cfg(test)]
mod tests {
    //! A cursor leads back to its place, and nowhere else.

    use super::*;

    #[test]
    fn a_cursor_is_read_back_only_for_its_list_and_filter() {
        let place = Keyset {
            key: -3,
            id: i64::MAX,
        };
        let cursor = encode("tickets", &("open", 1), place);
        assert_eq!(
            page("tickets", &("open", 1), None, Some(&cursor))
                .unwrap()
                .after(),
            Some(place)
        );
        assert!(page("tickets", &("open", 2), None, Some(&cursor)).is_err());
        assert!(page("customers", &("open", 1), None, Some(&cursor)).is_err());
        for bad in [
            "",
            "x",
            "AAAA",
            "!!",
            &cursor[1..],
            &format!("{cursor}A"),
            &"A".repeat(300),
        ] {
            assert!(
                page("tickets", &("open", 1), None, Some(bad)).is_err(),
                "{bad}"
            );
        }
    }

    #[test]
    fn a_limit_outside_the_range_is_named() {
        for limit in [0, 101, u16::MAX] {
            assert_eq!(
                page("tickets", &(), Some(limit), None).unwrap_err().field,
                "limit"
            );
        }
        assert_eq!(page("tickets", &(), None, None).unwrap().limit(), 20);
    }
}
