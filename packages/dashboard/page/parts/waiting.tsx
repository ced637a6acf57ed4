/** In place of an answer that is not there yet; shown after a moment, as most answers are there before. */
export function Waiting() {
  return <p class="empty waiting">Waiting for the leader …</p>;
}
