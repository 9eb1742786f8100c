/** Effects on messages that have not arrived, by the id of the message; the oldest go first when there are too many. */
const MOST_AWAITED = 1000;

/** Holds what changes a message until that message is there: a retry may bring the two in the wrong order. */
export class AwaitingEffects {
  private readonly byTarget = new Map<string, (() => void)[]>();

  add(target: string, effect: () => void): void {
    this.byTarget.set(target, [...(this.byTarget.get(target) ?? []), effect]);
    const [oldest] = this.byTarget.keys();
    if (this.byTarget.size > MOST_AWAITED && oldest !== undefined) this.byTarget.delete(oldest);
  }

  /** The message has arrived. */
  arrived(id: string): void {
    const effects = this.byTarget.get(id) ?? [];
    this.byTarget.delete(id);
    for (const effect of effects) effect();
  }
}
