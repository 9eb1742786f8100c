/** Whether the management API answers. One banner shows it while it does not. */
type Listener = () => void;

export class Reachability {
  #isReachable = true;
  readonly #listeners = new Set<Listener>();

  get isReachable(): boolean {
    return this.#isReachable;
  }

  /** Notifies only of a change. */
  set(isReachable: boolean): void {
    if (this.#isReachable === isReachable) return;
    this.#isReachable = isReachable;
    for (const listener of this.#listeners) listener();
  }

  /** @returns what ends it */
  readonly subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };
}
