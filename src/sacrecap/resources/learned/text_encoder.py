"""Models that read texts: a vector for each token, or one for the text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sacrecap.errors import DataError
from sacrecap.resources.learned.checkpoint import Checkpoint, Network, described, parts
from sacrecap.resources.learned.texts import Tokenizer, Tokens, by_length, read_limit, told

if TYPE_CHECKING:
    from sacrecap.resources.learned.kept_features import Vector
    from sacrecap.resources.needs import Needs

KIND = "model of texts"


class TextEncoder(Network):
    """A loaded model of texts; of an encoder-decoder model, only the encoder."""

    def __init__(self, checkpoint: Checkpoint, device: Any) -> None:
        super().__init__(checkpoint, device)
        model, tokenizer, self.commit = parts(checkpoint, what=KIND)
        model = _encoder(model, checkpoint)
        self._model = model.to(device)
        self._tokenizer = tokenizer
        self._limit = read_limit(model, tokenizer, model.config)
        self.special = {one for one in (tokenizer.cls_token_id, tokenizer.sep_token_id) if one is not None}
        """The tokens that begin and end a text."""

    def tokenizer(self, *, blank_first: bool = False) -> Tokenizer:
        """The tokenizer, which cuts at the model's last position."""
        return Tokenizer(self._tokenizer, self._limit, blank_first=blank_first)

    def tokens(self, tokens: Sequence[Tokens], needs: Needs) -> list[Vector]:
        """Unit vectors of the tokens of each text: one float32 array of shape (tokens, numbers) per text."""

        def run(ids: Any) -> Any:
            rows = self._hidden(ids)
            return (rows / rows.norm(dim=-1, keepdim=True)).cpu().numpy()

        return by_length(self, tokens, run, told(needs, "reading captions", len(tokens)))

    def vectors(self, tokens: Sequence[Tokens], needs: Needs) -> list[Vector]:
        """Unit vectors of texts: the means over all of their tokens."""

        def run(ids: Any) -> Any:
            rows = self._hidden(ids).mean(dim=1)
            return (rows / rows.norm(dim=-1, keepdim=True)).cpu().numpy()

        return by_length(self, tokens, run, told(needs, "reading captions", len(tokens)))

    def _hidden(self, ids: Any) -> Any:
        import torch

        return self._model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state.float()


def tokenizer_alone(checkpoint: Checkpoint, *, blank_first: bool = False) -> Tokenizer:
    """The tokenizer of an encoder, without the encoder's weights.

    Raises `DataError` if it cannot be loaded, or the checkpoint is of another kind.
    """
    return _tokenizer_alone(checkpoint, checkpoint.checksum(), blank_first)


@lru_cache(maxsize=4)
def _tokenizer_alone(checkpoint: Checkpoint, _: str, blank_first: bool) -> Tokenizer:
    import torch
    from transformers import AutoModel

    config, tokenizer = described(checkpoint, what=KIND)
    make: Any = AutoModel.from_config
    with torch.device("meta"):
        model = _encoder(make(config), checkpoint)
    return Tokenizer(tokenizer, read_limit(model, tokenizer, model.config), blank_first=blank_first)


def _encoder(model: Any, checkpoint: Checkpoint) -> Any:
    """The model; of one that also decodes, the part that encodes. Raises `DataError` for one of another kind."""
    if model.main_input_name != "input_ids" or hasattr(model, "get_image_features"):
        raise DataError(
            f"{checkpoint} is a {type(model).__name__}, which does not encode texts; accepted are models that "
            "give a vector for each token, such as BERT, RoBERTa, DeBERTa, MPNet or the encoders of BART and T5"
        )
    return model.get_encoder() if getattr(model.config, "is_encoder_decoder", False) else model
