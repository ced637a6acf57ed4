const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** The latest values as bars from 0 to the largest of them, the newest at the right end. */
export function sparkline(values: readonly number[], width: number): string {
  const shown = width <= 0 ? [] : values.slice(-width);
  const most = Math.max(...shown, 0);
  const bars = shown.map((value) => {
    // A value that is not 0 is seen, however small it is beside the largest.
    const level = most === 0 || value <= 0 ? 0 : Math.ceil((value / most) * (BARS.length - 1));
    return BARS[level] ?? '';
  });
  return bars.join('').padStart(Math.max(0, width), ' ');
}
