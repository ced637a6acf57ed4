/** The course of a figure above 0, the latest value at the right. */
export function Sparkline({ values, label }: { readonly values: readonly number[]; readonly label: string }) {
  const max = Math.max(1, ...values);
  // One value is a level line, and none is one at 0.
  const [only = 0] = values;
  const course = values.length < 2 ? [only, only] : values;
  const last = Math.max(1, course.length - 1);
  const points = course.map((value, at) => `${(at / last) * 100},${29 - (value / max) * 27}`).join(' ');
  return (
    <svg viewBox="0 0 100 30" preserveAspectRatio="none" role="img" aria-label={label}>
      <polygon points={`0,30 ${points} 100,30`} fill="currentColor" opacity="0.13" />
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
