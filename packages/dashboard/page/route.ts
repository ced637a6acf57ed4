import { useEffect, useState } from 'preact/hooks';

/** The address behind `#`: a path and its parameters. */
export interface Route {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = (): void => setHash(location.hash);
    addEventListener('hashchange', changed);
    // Effects run after the first paint: the address may have changed since.
    changed();
    return () => removeEventListener('hashchange', changed);
  }, []);
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  return { path: path.split('/').filter((part) => part !== ''), query: new URLSearchParams(query) };
}

export function goTo(path: string, query: Readonly<Record<string, string>> = {}): void {
  const text = new URLSearchParams(query).toString();
  location.hash = `#/${path}${text === '' ? '' : `?${text}`}`;
}
