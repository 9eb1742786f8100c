/**
 * The request for the password before something dangerous: one dialog, however many operations wait for it.
 */
type Listener = () => void;

export class PasswordProof {
  #waiting: ((isProven: boolean) => void)[] = [];
  readonly #listeners = new Set<Listener>();

  get isRequested(): boolean {
    return this.#waiting.length > 0;
  }

  /** Resolves to whether the password was entered; false when the dialog was closed. */
  request(): Promise<boolean> {
    return new Promise((resolve) => {
      this.#waiting = [...this.#waiting, resolve];
      this.#notify();
    });
  }

  /** The dialog is over. */
  end(isProven: boolean): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve(isProven);
    this.#notify();
  }

  readonly subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

export const passwordProof = new PasswordProof();
