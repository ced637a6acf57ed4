/** When a child was restarted, oldest first; only what can still matter is kept. */
export type RestartHistory = readonly number[];

/** The history with one more restart at `now`, without what has left the window. */
export function withRestart(history: RestartHistory, now: number, withinMs: number): RestartHistory {
  return [...recent(history, now, withinMs), now];
}

export function recent(history: RestartHistory, now: number, withinMs: number): RestartHistory {
  return history.filter((at) => now - at < withinMs);
}
