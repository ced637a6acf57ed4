import { useLayoutEffect, useRef } from 'preact/hooks';

/** So near to the end is at the end: browsers round. */
const END_PX = 8;

interface Props {
  readonly label: string;
  readonly text: string;
}

/** Lines as they come: the latest stay in sight, unless their reader has scrolled up. */
export function Tail({ label, text }: Props) {
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  // The number of lines has a bound: the length of the text may stay as it is.
  useLayoutEffect(() => {
    if (isAtEnd.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  return (
    <pre
      ref={box}
      role="log"
      aria-label={label}
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < END_PX;
      }}
    >
      {text}
    </pre>
  );
}
