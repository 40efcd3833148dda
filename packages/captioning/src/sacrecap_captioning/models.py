"""Captioners by name: they see the whole image once, attend to its regions, or draw a latent vector.

What the last kind says of an image depends on a draw, so that ten draws are a caption set.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sacrecap.errors import UsageError, accepted_name
from sacrecap_captioning.captioner import (
    Captioner,
    Features,
    MaxoutCell,
    ModelLoss,
    Sizes,
    State,
    at_last_word,
    cross_entropy,
    lstm_cell,
    until_end,
)


class NIC(Captioner, name="nic"):
    """The image is the state that a plain LSTM starts in: (h₀, c₀) = W·image.

    Vinyals, Toshev, Bengio, Erhan, *Show and tell: a neural image caption generator* (CVPR 2015), section 3.

    | point | paper | here |
    | --- | --- | --- |
    | where the image enters | as the word before the first | as the LSTM's first state; as a word it enters in `fc` |
    """

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.hidden = nn.Linear(sizes.feature, sizes.hidden)
        self.memory = nn.Linear(sizes.feature, sizes.hidden)
        self.cell = lstm_cell(sizes.embedding, sizes.hidden)
        self.word = nn.Linear(sizes.hidden, sizes.vocabulary)

    def begin(self, features: Features) -> State:
        """The image as the LSTM's state."""
        return self.hidden(features.pooled).tanh(), self.memory(features.pooled)  # (B, H), (B, H)

    def step(self, words: Tensor, state: State) -> tuple[Tensor, State]:
        hidden, memory = self.cell(self.embed(words), state)  # (B, H)
        return self.word(self.dropout(hidden)), (hidden, memory)


class FC(Captioner, name="fc"):
    """The image is the first word, x₋₁ = W·image, of an LSTM whose memory is c_t = i·max(W_z x + W_h h) + f·c_{t−1}.

    Rennie, Marcheret, Mroueh, Ross, Goel, *Self-critical sequence training for image captioning* (CVPR 2017), sec. 2,
    whose LSTM has a maximum over two candidates in place of the hyperbolic tangent, for FC as for Att2in.
    """

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.image = nn.Linear(sizes.feature, sizes.embedding)
        read = sizes.embedding + sizes.hidden
        self.cell = MaxoutCell(read, read, sizes.hidden)
        self.word = nn.Linear(sizes.hidden, sizes.vocabulary)

    def begin(self, features: Features) -> State:
        """The LSTM's state after it has read the image."""
        pixels = self.image(features.pooled)  # (B, E)
        zeros = self.zeros(pixels)
        return self._read(pixels, (zeros, zeros))

    def step(self, words: Tensor, state: State) -> tuple[Tensor, State]:
        hidden, memory = self._read(self.embed(words), state)
        return self.word(self.dropout(hidden)), (hidden, memory)

    def _read(self, vectors: Tensor, state: State) -> tuple[Tensor, Tensor]:
        """(B, H) hidden state and memory after (B, E) vectors."""
        hidden, memory = state
        read = torch.cat([vectors, hidden], 1)  # (B, E + H)
        state_and_memory: tuple[Tensor, Tensor] = self.cell(read, read, memory)
        return state_and_memory


class AdditiveAttention(nn.Module):
    """α_i ∝ exp(w · tanh(W_v v_i + W_h h)); the context is Σ α_i v_i.

    Bahdanau, Cho, Bengio, *Neural machine translation by jointly learning to align and translate* (ICLR 2015); over
    images Xu et al. (ICML 2015), eq. 4–6.
    """

    def __init__(self, region: int, hidden: int, attention: int) -> None:
        super().__init__()
        self.key = nn.Linear(region, attention)
        self.query = nn.Linear(hidden, attention, bias=False)
        self.score = nn.Linear(attention, 1, bias=False)

    def forward(self, hidden: Tensor, keys: Tensor, grid: Tensor) -> Tensor:
        """(B, D) context of (B, H) states among (B, R, D) regions; `keys`: (B, R, A), their W_v v_i, computed once."""
        scores: Tensor = self.score((keys + self.query(hidden)[:, None]).tanh()).squeeze(2)  # (B, R)
        weights = scores.softmax(1)
        return (weights[:, :, None] * grid).sum(1)


class SoftAtt(Captioner, name="softatt"):
    """Before each word the LSTM reads the regions: x_t = [word; β·context]; deep output of word, state and context.

    Xu, Ba, Kiros, Cho, Courville, Salakhutdinov, Zemel, Bengio, *Show, attend and tell* (ICML 2015), sections 3.1, 4.2.

    | point | paper | here |
    | --- | --- | --- |
    | attention summing to 1 over the words (eq. 14) | a term of the loss | left out |
    """

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.hidden = nn.Linear(sizes.feature, sizes.hidden)
        self.memory = nn.Linear(sizes.feature, sizes.hidden)
        self.attention = AdditiveAttention(sizes.feature, sizes.hidden, sizes.attention)
        self.gate = nn.Linear(sizes.hidden, 1)
        self.cell = lstm_cell(sizes.embedding + sizes.feature, sizes.hidden)
        self.from_hidden = nn.Linear(sizes.hidden, sizes.embedding)
        self.from_context = nn.Linear(sizes.feature, sizes.embedding, bias=False)
        self.word = nn.Linear(sizes.embedding, sizes.vocabulary)

    def begin(self, features: Features) -> State:
        """The mean region as the LSTM's state, and the regions."""
        hidden, memory = self.hidden(features.pooled).tanh(), self.memory(features.pooled).tanh()  # (B, H)
        return hidden, memory, features.grid, self.attention.key(features.grid)

    def step(self, words: Tensor, state: State) -> tuple[Tensor, State]:
        hidden, memory, grid, keys = state  # (B, H), (B, H), (B, R, D), (B, R, A)
        embedded = self.embed(words)  # (B, E)
        context = self.gate(hidden).sigmoid() * self.attention(hidden, keys, grid)  # (B, D)
        hidden, memory = self.cell(torch.cat([embedded, context], 1), (hidden, memory))
        output = embedded + self.from_hidden(self.dropout(hidden)) + self.from_context(context)  # (B, E)
        return self.word(output), (hidden, memory, grid, keys)


class Att2in(Captioner, name="att2in"):
    """The regions enter the memory only, not the gates: c_t = i·max(W_z x + W_h h + W_I I_t) + f·c_{t−1}.

    Rennie, Marcheret, Mroueh, Ross, Goel, *Self-critical sequence training for image captioning* (CVPR 2017), sec. 2.
    """

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.attention = AdditiveAttention(sizes.feature, sizes.hidden, sizes.attention)
        read = sizes.embedding + sizes.hidden
        self.cell = MaxoutCell(read, read + sizes.feature, sizes.hidden)
        self.word = nn.Linear(sizes.hidden, sizes.vocabulary)

    def begin(self, features: Features) -> State:
        """An empty LSTM, and the regions."""
        zeros = self.zeros(features.pooled)
        return zeros, zeros, features.grid, self.attention.key(features.grid)

    def step(self, words: Tensor, state: State) -> tuple[Tensor, State]:
        hidden, memory, grid, keys = state  # (B, H), (B, H), (B, R, D), (B, R, A)
        context = self.attention(hidden, keys, grid)  # (B, D): I_t
        read = torch.cat([self.embed(words), hidden], 1)  # (B, E + H)
        hidden, memory = self.cell(read, torch.cat([read, context], 1), memory)
        return self.word(self.dropout(hidden)), (hidden, memory, grid, keys)


class AdapAtt(Captioner, name="adapatt"):
    """A sentinel, what the LSTM knows without looking, competes with the regions: ĉ = β·sentinel + (1 − β)·context.

    β is the attention that the sentinel gets. Lu, Xiong, Parikh, Socher, *Knowing when to look: adaptive attention via
    a visual sentinel for image captioning* (CVPR 2017), sections 2.2 and 2.3.
    """

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        read = sizes.embedding + sizes.hidden
        self.region = nn.Linear(sizes.feature, sizes.hidden)
        self.image = nn.Linear(sizes.feature, sizes.hidden)
        self.cell = lstm_cell(read, sizes.hidden)
        self.sentinel = nn.Linear(read + sizes.hidden, sizes.hidden)
        self.attention = AdditiveAttention(sizes.hidden, sizes.hidden, sizes.attention)
        self.sentinel_key = nn.Linear(sizes.hidden, sizes.attention)
        self.word = nn.Linear(sizes.hidden, sizes.vocabulary)

    def begin(self, features: Features) -> State:
        """An empty LSTM, the image, and its regions."""
        regions = self.region(features.grid).relu()  # (B, R, H)
        zeros = self.zeros(features.pooled)
        return zeros, zeros, self.image(features.pooled).relu(), regions, self.attention.key(regions)

    def step(self, words: Tensor, state: State) -> tuple[Tensor, State]:
        before, memory, image, regions, keys = state  # (B, H), (B, H), (B, H), (B, R, H), (B, R, A)
        read = torch.cat([self.embed(words), image], 1)  # (B, E + H): x_t
        hidden, memory = self.cell(read, (before, memory))
        sentinel = self.sentinel(torch.cat([read, before], 1)).sigmoid() * memory.tanh()  # (B, H): s_t
        # The sentinel is one more region, with a key of its own.
        all_keys = torch.cat([keys, self.sentinel_key(sentinel)[:, None]], 1)  # (B, R + 1, A)
        context = self.attention(hidden, all_keys, torch.cat([regions, sentinel[:, None]], 1))  # (B, H): ĉ_t
        return self.word(self.dropout(context + hidden)), (hidden, memory, image, regions, keys)


FREE = 0.05
"""Free nats of each latent number."""
RADIUS = 10.0
"""Length of the components' means, in their standard deviations."""


class LatentCaptioner(Captioner):
    """An LSTM that reads the image with a latent vector z first, and z again beside each word."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.image = nn.Linear(sizes.feature, sizes.embedding)
        self.cell = lstm_cell(sizes.embedding + sizes.latent, sizes.hidden)
        self.word = nn.Linear(sizes.hidden, sizes.vocabulary)

    def draw(
        self, features: Features, spread: float | Tensor = 1.0, generator: torch.Generator | None = None
    ) -> Tensor:
        """(B, Z) latent vectors from the prior, N(0, 1), its deviation multiplied by `spread`: a number or (B, 1)."""
        return standard_normal(features.pooled, self.sizes.latent, generator) * spread

    def begin(self, features: Features, latent: Tensor | None = None) -> State:
        """The LSTM's state after the image, with these (B, Z) latent vectors; by default drawn from the prior."""
        latent = self.draw(features) if latent is None else latent
        pixels = self.image(features.pooled)  # (B, E)
        zeros = self.zeros(pixels)
        hidden, memory = self.cell(torch.cat([pixels, latent], 1), (zeros, zeros))
        return hidden, memory, latent  # (B, H), (B, H), (B, Z)

    def step(self, words: Tensor, state: State) -> tuple[Tensor, State]:
        hidden, memory, latent = state
        hidden, memory = self.cell(torch.cat([self.embed(words), latent], 1), (hidden, memory))
        return self.word(self.dropout(hidden)), (hidden, memory, latent)


class CaptionReader(nn.Module):
    """A caption as one vector: an LSTM's state after the caption's end."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.embed = nn.Embedding(sizes.vocabulary, sizes.embedding)
        self.read = nn.LSTM(sizes.embedding, sizes.hidden, batch_first=True)

    def forward(self, captions: Tensor) -> Tensor:
        """(B, H) of (B, T) captions."""
        states, _ = self.read(self.embed(captions))  # (B, T, H)
        return at_last_word(states, captions)


def standard_normal(rows: Tensor, size: int, generator: torch.Generator | None) -> Tensor:
    """(B, Z) of N(0, 1), for rows as many, of that type and on that device."""
    return torch.randn(len(rows), size, generator=generator, dtype=rows.dtype, device=rows.device)


class CVAE(LatentCaptioner, name="cvae"):
    """Prior N(0, 1); posterior q(z | caption, image) a Gaussian that an LSTM reads off the caption.

    Sohn, Lee, Yan, *Learning structured output representation using deep conditional generative models* (NIPS 2015);
    for captions Wang, Schwing, Lazebnik, *Diverse and accurate image description using a variational auto-encoder with
    an additive Gaussian encoding space* (NIPS 2017), section 2.

    | point | paper | here |
    | --- | --- | --- |
    | where z enters | before the first word | there and beside each word |
    | a posterior that says nothing of the caption | – | free bits prevent it: Kingma et al. (NIPS 2016), section 2.4 |
    """

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.reader = CaptionReader(sizes)
        self.posterior = nn.Linear(sizes.hidden + sizes.feature, 2 * sizes.latent)

    def loss(self, features: Features, captions: Tensor) -> ModelLoss:
        """Minus the evidence's lower bound, per word: −log p(caption | image, z) + KL(q ‖ p)."""
        mean, log_variance = self.encode(features, captions)  # (B, Z) each
        latent = mean + (log_variance / 2).exp() * torch.randn_like(mean)
        divergence = self.divergence(mean, log_variance, features)  # (): nats of all captions
        logits = self.unrolled(self.begin(features, latent), captions)
        entropy = cross_entropy(logits, captions)
        return ModelLoss(entropy + divergence / until_end(captions).sum(), entropy)

    def encode(self, features: Features, captions: Tensor) -> tuple[Tensor, Tensor]:
        """(B, Z) mean and logarithm of the variance of the posterior."""
        read = torch.cat([self.reader(captions), features.pooled], 1)  # (B, H + D)
        mean, log_variance = self.posterior(read).chunk(2, 1)
        return mean, log_variance

    def divergence(self, mean: Tensor, log_variance: Tensor, features: Features) -> Tensor:  # noqa: ARG002
        """(): KL(q ‖ p) in nats, summed over the captions; free bits taken as paid."""
        divergences = (mean**2 + log_variance.exp() - 1 - log_variance) / 2  # (B, Z)
        return divergences.mean(0).clamp(min=FREE).sum() * len(mean)


class GMMCVAE(CVAE, name="gmm-cvae"):
    """Prior Σ_k c_k N(μ_k, 1) over object classes k, c_k the share of the class among the image's objects.

    Wang, Schwing, Lazebnik (NIPS 2017), section 3. The bound, −log Σ_k c_k exp(−KL(q ‖ N_k)), is of Hershey, Olsen,
    *Approximating the Kullback Leibler divergence between Gaussian mixture models* (ICASSP 2007).

    | point | paper | here |
    | --- | --- | --- |
    | objects of an image without labels | a Faster R-CNN | a linear layer on the image's feature |
    | components | means on the unit ball, deviation 0.1 | ten times both: deviations are counted from 1 |
    | KL of the posterior from the mixture | from a component that is drawn | its bound over all of them (below) |
    """

    means: Tensor  # (K, Z)

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        if not sizes.objects:
            raise UsageError(
                f"the model {self.name} has a component for each object class, and these images have no object labels; "
                "use images that have them, or another model, such as cvae"
            )
        self.objects = nn.Linear(sizes.feature, sizes.objects)
        directions = nn.functional.normalize(torch.randn(sizes.objects, sizes.latent), dim=1)
        self.register_buffer("means", RADIUS * directions)

    def draw(
        self, features: Features, spread: float | Tensor = 1.0, generator: torch.Generator | None = None
    ) -> Tensor:
        """A component of those likely for the image, then from N(μ_k, spread²)."""
        shares = _shares(self.objects(features.pooled).sigmoid())  # (B, K)
        component = torch.multinomial(shares.float(), 1, generator=generator).squeeze(1)  # (B,)
        return self.means[component] + standard_normal(features.pooled, self.sizes.latent, generator) * spread

    def loss(self, features: Features, captions: Tensor) -> ModelLoss:
        """A CVAE's, and the cross-entropy of the object labels, where they are known."""
        loss = super().loss(features, captions)
        if features.objects is None:
            return loss
        objects = nn.functional.binary_cross_entropy_with_logits(self.objects(features.pooled), features.objects)
        return loss._replace(total=loss.total + objects)

    def divergence(self, mean: Tensor, log_variance: Tensor, features: Features) -> Tensor:
        """(): at most −Σ log Σ_k c_k exp(−KL(q ‖ N(μ_k, 1))); free bits taken as paid."""
        labels = self.objects(features.pooled).sigmoid() if features.objects is None else features.objects
        apart = torch.cdist(mean, self.means) ** 2  # (B, K)
        width = (log_variance.exp() - 1 - log_variance).sum(1, keepdim=True)  # (B, 1)
        nearest = (_shares(labels).log() - (apart + width) / 2).logsumexp(1)  # (B,)
        return (-nearest).mean().clamp(min=FREE * mean.shape[1]) * len(mean)


def _shares(objects: Tensor) -> Tensor:
    """(B, K) share of each class; every class has a little, so that an image without objects has a prior too."""
    raised = objects.detach() + 1e-4
    return raised / raised.sum(1, keepdim=True)


class CGAN(LatentCaptioner, name="cgan"):
    """A captioner with noise that learns to convince an evaluator, which learns to tell its captions from people's.

    Dai, Fidler, Urtasun, Lin, *Towards diverse and natural image descriptions via a conditional GAN* (ICCV 2017).
    Training has two parts, as the paper's: `--loss xe` is cross-entropy without noise (its released code has it at 0
    there), so that the captioner does not learn to ignore it; `--loss evaluator` is the game, policy gradient with
    the evaluator's score as the reward, while the evaluator learns on people's captions of the image, the captioner's,
    and people's of other images.

    | point | paper | here |
    | --- | --- | --- |
    | noise | in [−1, 1], beside the image's feature before the first word | normal, there and beside each word |
    | reward of a word | that of 64 rolled-out captions | that of the caption, less the baseline of the other rewards |
    | steps of the evaluator for one of the captioner | 50 in the released code | 1 |
    | captions of other images | drawn | those half a batch away |
    """

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.evaluator = Evaluator(sizes)

    def loss(self, features: Features, captions: Tensor) -> ModelLoss:
        """Cross-entropy without noise. With it the captioner would learn to ignore what says nothing of the caption."""
        silent = features.pooled.new_zeros(len(features.pooled), self.sizes.latent)
        entropy = cross_entropy(self.unrolled(self.begin(features, silent), captions), captions)
        return ModelLoss(entropy, entropy)

    def game(self, features: Features, captions: Tensor, written: Tensor) -> Tensor:
        """(): the evaluator's loss: people's captions of the image match it; the captioner's, and others', do not.

        Raises `UsageError` if the batch has one image: there are no captions of others.
        """
        if len(features.pooled) < 2:
            raise UsageError(
                "the evaluator compares the images of a batch, and this batch has one; make batches larger"
            )
        soft = nn.functional.softplus
        people = soft(-self.judged(features, captions)).mean()
        mismatched = soft(self.judged(features, captions.roll(len(captions) // 2, 0))).mean()
        loss: Tensor = people + (soft(self.judged(features, written)).mean() + mismatched) / 2
        return loss

    def judged(self, features: Features, captions: Tensor) -> Tensor:
        """(N,): how sure the evaluator is, before the logistic function, that people wrote these, N / B of an image."""
        sure: Tensor = self.evaluator(features.repeated(len(captions) // len(features.pooled)), captions)
        return sure


class Evaluator(nn.Module):
    """How well a caption fits an image: the product of an embedding of each, before the logistic function."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.reader = CaptionReader(sizes)
        self.image = nn.Linear(sizes.feature, sizes.embedding)
        self.caption = nn.Linear(sizes.hidden, sizes.embedding)

    def forward(self, features: Features, captions: Tensor) -> Tensor:
        """(B,) of B images with (B, T) captions. The image's features do not learn from it."""
        matched: Tensor = self.image(features.pooled.detach()) * self.caption(self.reader(captions))  # (B, E)
        return matched.sum(1)


MODELS: dict[str, type[Captioner]] = {
    model.name: model for model in (NIC, FC, SoftAtt, Att2in, AdapAtt, CVAE, GMMCVAE, CGAN)
}
"""Every captioner by its name on the command line."""


def build(name: str, sizes: Sizes) -> Captioner:
    """A captioner with weights drawn from torch's global generator.

    Raises:
        UsageError: no such name; or sizes that this captioner cannot do with.
    """
    accepted_name("the model", name, list(MODELS))
    return MODELS[name](sizes)
