import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';

/** An editor writes a file in several steps. */
const QUIET_MS = 150;
const IGNORED = new Set(['node_modules', '.git']);
/** Files that a worker loads. A handler may write other files here, and must not end its worker by it. */
const LOADED = /\.(?:[cm]?[jt]sx?|json|wasm|node)$/;

interface WatchCalls {
  /** Once the changes are over, with the file that changed last. */
  onChange(file: string): void;
  /** A folder is not watched any more. */
  onError(error: Error): void;
  isIgnored(file: string): boolean;
}

/**
 * Calls back when modules below a folder have changed. Each folder is watched, not the files in it:
 * `recursive` of Node 20 loses a file that an editor has replaced by another of its name.
 */
export class FolderWatch {
  private readonly root: string;
  private readonly calls: WatchCalls;
  /** By the path below the root; the root itself is empty. */
  private readonly watchers = new Map<string, FSWatcher>();
  private timer: NodeJS.Timeout | undefined = undefined;

  constructor(root: string, calls: WatchCalls) {
    this.root = root;
    this.calls = calls;
    this.add('');
  }

  close(): void {
    clearTimeout(this.timer);
    for (const watcher of this.watchers.values()) watcher.close();
    this.watchers.clear();
  }

  /** A folder and those below it. Returns the modules that are there. */
  private add(folder: string): string[] {
    this.watchers.get(folder)?.close();
    const path = join(this.root, folder);
    // The end of a folder is an event of the folder above it.
    const onError = (error: Error): void => {
      if (isFolder(path)) this.calls.onError(error);
    };
    try {
      const watcher = watch(path, (_event, name) => {
        if (name !== null) this.seen(join(folder, name), name);
      });
      this.watchers.set(folder, watcher.on('error', onError));
      return this.addBelow(folder);
    } catch (error) {
      onError(error as Error); // of the file system
      return [];
    }
  }

  private addBelow(folder: string): string[] {
    return readdirSync(join(this.root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return this.isWatched(path, entry.name) ? this.add(path) : [];
      return entry.isFile() && LOADED.test(entry.name) ? [path] : [];
    });
  }

  private isWatched(path: string, name: string): boolean {
    return !IGNORED.has(name) && !this.calls.isIgnored(path);
  }

  private seen(path: string, name: string): void {
    if (!this.isWatched(path, name)) return;
    if (isFolder(join(this.root, path))) {
      // Modules may have come with the folder, before it was watched.
      const [first] = this.add(path);
      if (first !== undefined) this.changed(first);
    } else if (LOADED.test(name)) this.changed(path);
  }

  private changed(file: string): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.calls.onChange(file), QUIET_MS);
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
