// Round numbers, for axes.

/**
 * The least number that is one of the factors times a power of ten, and not below `rough`.
 * @param {number} rough
 * @param {number[]} factors
 */
export function roundStep(rough, factors = [1, 2, 2.5, 5]) {
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  return power * (factors.find((factor) => factor * power >= rough - 1e-12) ?? 10);
}

/**
 * Whether it is 1, 2 or 5 times a power of ten.
 * @param {number} value
 */
export const isRound = (value) => Math.abs(roundStep(value * (1 - 1e-9), [1, 2, 5]) / value - 1) < 1e-6;
