//! The catalog, asked in as few flights as it takes.
//!
//! Invariant: the names of schemas are bound. What is asked in a flight is answered to its end, whatever of it is refused.

use super::{COM_STMT_EXECUTE, COM_STMT_PREPARE, MysqlSession, Trouble, prepared};
use crate::engine::catalog::CatalogAsk;
use crate::engine::mysql::catalog::{self, Answers, Question};
use crate::engine::{EngineError, Fate, Param};

/// What is said in a flight.
enum Word {
    /// From here on the questions are about this schema.
    Choose(String),
    /// A question.
    Ask(Question),
}

impl MysqlSession {
    /// As much of the catalog as is asked for: one flight of a small database; one more for what of it has changed, and of a large one
    /// for what the schemas come to that are known.
    pub(super) async fn ask_catalog(&mut self, ask: &CatalogAsk) -> Result<Answers, EngineError> {
        let mut answers = Answers::default();
        let (prepares, first): (bool, Vec<Question>) = match ask {
            CatalogAsk::First => (false, catalog::at_first()),
            CatalogAsk::Since(_) => (true, catalog::for_versions()),
            CatalogAsk::Of(_) => (true, catalog::about_the_session()),
        };
        self.fly(prepares, first.into_iter().map(Word::Ask).collect(), &mut answers).await?;
        let unsummed = about_each(answers.unsummed(ask), catalog::sums_of_chosen);
        self.fly(false, unsummed.collect(), &mut answers).await?;
        let unnamed = about_each(answers.unnamed(ask), catalog::names_of_chosen);
        let unread = about_each(answers.unread(ask), catalog::all_of_chosen);
        self.fly(false, unnamed.chain(unread).collect(), &mut answers).await?;
        Ok(answers)
    }

    /// Says all of it in one flight. The first refusal is returned in the end.
    async fn fly(&mut self, prepares: bool, words: Vec<Word>, answers: &mut Answers) -> Result<(), EngineError> {
        if words.is_empty() {
            return Ok(());
        }
        if prepares {
            self.wire.write_command(COM_STMT_PREPARE, catalog::CHOOSE.as_bytes());
        }
        let chooser = self.prepared.unwrap_or_default();
        for word in &words {
            match word {
                Word::Ask((_, sql)) => self.write_query(sql),
                Word::Choose(schema) => {
                    self.wire.write_command(COM_STMT_EXECUTE, &prepared::execution(chooser, &[Param::Text(schema.clone())]));
                }
            }
        }
        self.send().await?;
        let mut failed = None;
        if prepares {
            match self.preparation().await {
                Ok((id, _)) => self.prepared = Some(id),
                Err(Trouble::Refused(refusal)) => failed = Some(self.refused_aside(refusal)),
                Err(Trouble::Wire(error)) => return Err(self.lose(&error)),
            }
        }
        for word in words {
            let answered = match word {
                Word::Ask((topic, _)) => self.texts(&mut |row| answers.take(topic, row)).await,
                Word::Choose(_) => self.done().await.map(drop),
            };
            match answered {
                Err(error) if error.fate == Fate::Idle => failed = failed.or(Some(error)),
                other => other?,
            }
        }
        failed.map_or(Ok(()), Err)
    }
}

fn about_each(schemas: Vec<String>, questions: fn() -> Vec<Question>) -> impl Iterator<Item = Word> {
    schemas.into_iter().flat_map(move |schema| std::iter::once(Word::Choose(schema)).chain(questions().into_iter().map(Word::Ask)))
}
