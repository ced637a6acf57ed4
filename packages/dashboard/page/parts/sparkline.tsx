/** The course of a figure, the latest value at the right. */
export function Sparkline({ values, label }: { readonly values: readonly number[]; readonly label: string }) {
  const max = Math.max(1, ...values);
  const last = Math.max(1, values.length - 1);
  const points = values.map((value, at) => `${(at / last) * 100},${29 - (value / max) * 28}`).join(' ');
  return (
    <svg viewBox="0 0 100 30" preserveAspectRatio="none" role="img" aria-label={label}>
      <polyline
        points={points}
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        vector-effect="non-scaling-stroke"
      />
    </svg>
  );
}
