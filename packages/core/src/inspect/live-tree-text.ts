import type { ActorView } from './actor-view.js';

/** The live tree as text: one line per actor, with what is out of the ordinary at its end. */
export function liveTreeText(root: ActorView): string {
  return linesOf(root, '', '').join('\n');
}

function linesOf(view: ActorView, first: string, further: string): string[] {
  const rows = [...view.children];
  const more = view.hidden > 0 ? [`${further}└─ … ${view.hidden} more`] : [];
  return [
    `${first}${lineOf(view)}`,
    ...rows.flatMap((child, at) => {
      const last = at === rows.length - 1 && more.length === 0;
      return linesOf(child, `${further}${last ? '└─ ' : '├─ '}`, `${further}${last ? '   ' : '│  '}`);
    }),
    ...more,
  ];
}

function lineOf(view: ActorView): string {
  const name = view.path === '/' ? '/' : (view.path.split('/').at(-1) as string);
  const facts = [
    view.actor === name ? '' : `(${view.actor})`,
    view.phase === undefined ? '' : `in ${view.phase}`,
    view.thread === undefined ? '' : `on ${view.thread}`,
    view.activity,
    view.depth > 0 ? `depth ${view.depth}` : '',
    view.stashed > 0 ? `stashed ${view.stashed}` : '',
    view.handled > 0 ? `handled ${view.handled}` : '',
    view.restarts > 0 ? `restarts ${view.restarts}` : '',
    view.slowest === undefined ? '' : `slowest ${view.slowest.message} ${Math.round(view.slowest.ms)} ms`,
  ];
  return `${name} ${facts.filter((fact) => fact !== '').join(', ')}`.replace('), ', ') ');
}
