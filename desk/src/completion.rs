//! What a person may be about to type: ids, categories, teams.

use domain::{EntityKind, text};

use crate::error::shown_id;
use crate::{Caller, Desk, DeskError};

/// The protocol allows 100 values in one answer.
const COMPLETIONS: u16 = 100;

impl Desk {
    /// Ids that begin as typed, with or without their prefix, highest first.
    pub async fn complete_id(
        &self,
        _caller: &Caller,
        entity: EntityKind,
        typed: &str,
    ) -> Result<Vec<String>, DeskError> {
        let digits: String = typed.chars().filter(char::is_ascii_digit).collect();
        let digits = digits.trim_start_matches('0').to_owned();
        let numbers = self.store.complete_id(entity, digits, COMPLETIONS).await?;
        Ok(numbers
            .into_iter()
            .map(|number| shown_id(entity, number))
            .collect())
    }

    /// Category slugs that begin as typed.
    pub async fn complete_category(
        &self,
        _caller: &Caller,
        typed: &str,
    ) -> Result<Vec<String>, DeskError> {
        let typed = domain::text_enum::fold_word(typed);
        let known = self.store.list_categories().await?;
        Ok(known
            .into_iter()
            .map(|row| row.slug)
            .filter(|slug| slug.starts_with(&typed))
            .collect())
    }

    /// Team names that begin as typed.
    pub async fn complete_team(
        &self,
        _caller: &Caller,
        typed: &str,
    ) -> Result<Vec<String>, DeskError> {
        Ok(self
            .store
            .complete_team(text::fold(typed), COMPLETIONS)
            .await?)
    }

    /// Every category.
    pub async fn list_categories(
        &self,
        _caller: &Caller,
    ) -> Result<Vec<domain::Category>, DeskError> {
        Ok(self.store.list_categories().await?)
    }
}
