//! The network itself: numbers of word pieces in, one unit vector out.

use std::sync::Arc;

use rten::{Model, NodeId, RunOptions, ThreadPool, ValueOrView};
use rten_tensor::{NdTensor, NdTensorView};

use crate::embedder::{Absent, EmbedError};
use crate::vector::{DIMENSIONS, Vector};

/// What the model is given: numbers of pieces, which of them count, and which of two texts they belong to.
const INPUTS: [&str; 3] = ["input_ids", "attention_mask", "token_type_ids"];

#[derive(Debug)]
pub(super) struct Network {
    model: Model,
    inputs: Vec<(Input, NodeId)>,
    output: NodeId,
}

#[derive(Clone, Copy, Debug)]
enum Input {
    Pieces,
    Counts,
    Second,
}

impl Network {
    pub(super) fn load(weights: Vec<u8>) -> Result<Self, Absent> {
        let unusable = |reason: String| Absent::Unusable { reason };
        let model = Model::load(weights).map_err(|error| unusable(error.to_string()))?;
        let kinds = [Input::Pieces, Input::Counts, Input::Second];
        // Some exports of the model leave the last out.
        let inputs = INPUTS
            .iter()
            .zip(kinds)
            .filter_map(|(name, kind)| Some((kind, model.find_node(name)?)))
            .collect();
        let output = model.output_ids().first().copied();
        let output = output.ok_or_else(|| unusable("it has no output".to_owned()))?;
        Ok(Self {
            model,
            inputs,
            output,
        })
    }

    /// The vector of a text, on the threads of `pool`.
    pub(super) fn run(&self, pieces: &[i32], pool: &Arc<ThreadPool>) -> Result<Vector, EmbedError> {
        let failed = |reason: String| EmbedError::Failed { reason };
        let shape = [1, pieces.len()];
        let inputs = self
            .inputs
            .iter()
            .map(|(kind, node)| {
                let values: Vec<i32> = match kind {
                    Input::Pieces => pieces.to_vec(),
                    Input::Counts => vec![1; pieces.len()],
                    Input::Second => vec![0; pieces.len()],
                };
                (*node, ValueOrView::from(NdTensor::from_data(shape, values)))
            })
            .collect();
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(pool)));
        let outputs = self
            .model
            .run(inputs, &[self.output], Some(options))
            .map_err(|error| failed(error.to_string()))?;
        let output = outputs
            .first()
            .ok_or_else(|| failed("it gave nothing".to_owned()))?;
        let states: NdTensorView<'_, f32, 3> = output
            .try_into()
            .map_err(|_shape| failed("its output has another shape".to_owned()))?;
        Ok(mean(states))
    }
}

/// The mean over the pieces, at unit length, as the model was trained to be read.
fn mean(states: NdTensorView<'_, f32, 3>) -> Vector {
    let mut sums = Box::new([0.0_f32; DIMENSIONS]);
    let states = states.to_contiguous();
    for piece in states.data().chunks_exact(DIMENSIONS) {
        for (sum, value) in sums.iter_mut().zip(piece) {
            *sum += value;
        }
    }
    Vector::unit(sums)
}
