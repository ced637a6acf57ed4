import { useEffect, useState } from 'preact/hooks';

/** False while the page is in the background: a browser has few connections to one address, for all its pages. */
export function useVisible(): boolean {
  const [isVisible, setVisible] = useState(isShown());
  useEffect(() => {
    const changed = (): void => setVisible(isShown());
    document.addEventListener('visibilitychange', changed);
    // Effects run after the first paint: it may have changed since.
    changed();
    return () => document.removeEventListener('visibilitychange', changed);
  }, []);
  return isVisible;
}

function isShown(): boolean {
  return document.visibilityState === 'visible';
}
