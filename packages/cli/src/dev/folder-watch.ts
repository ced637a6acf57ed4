import { type FSWatcher, watch } from 'node:fs';
import { sep } from 'node:path';

/** An editor writes a file in several steps. */
const QUIET_MS = 150;
const IGNORED = new Set(['node_modules', '.git']);

/** Calls back when files below a folder have changed, once the changes are over. */
export class FolderWatch {
  private readonly watcher: FSWatcher;
  private timer: NodeJS.Timeout | undefined = undefined;

  constructor(folder: string, onChange: (file: string) => void, isIgnored: (file: string) => boolean) {
    this.watcher = watch(folder, { recursive: true }, (_event, file) => {
      if (file === null || isIgnored(file) || file.split(sep).some((part) => IGNORED.has(part))) return;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => onChange(file), QUIET_MS);
    });
  }

  close(): void {
    clearTimeout(this.timer);
    this.watcher.close();
  }
}
