import { reachability } from '../api/api.js';

/**
 * Loads a part of the pages. While the server is away it is tried again once it is back, so that the page that is shown stays,
 * with its banner; a part that cannot be loaded although the server answers fails.
 */
export function onceReachable<Module>(load: () => Promise<Module>): () => Promise<Module> {
  return async () => {
    try {
      return await load();
    } catch {
      reachability.set(false);
      await reachable();
      return load();
    }
  };
}

function reachable(): Promise<void> {
  return new Promise((resolve) => {
    const end = reachability.subscribe(() => {
      if (!reachability.isReachable) return;
      end();
      resolve();
    });
  });
}
