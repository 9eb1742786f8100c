import { randomUUID } from 'node:crypto';

/** What can be made to go wrong and stays in force until it is used up or removed. */
export type FaultKind =
  | 'refuse-connection'
  | 'refuse-send'
  | 'delay-acks'
  | 'hold-acks'
  | 'silence'
  | 'make-unknown'
  | 'lose-receipts'
  | 'refuse-iq'
  | 'delay'
  | 'ban'
  | 'corrupt-message'
  | 'duplicate-message'
  | 'placeholder'
  | 'refuse-upload'
  | 'hold-uploads'
  | 'slow-media'
  | 'break-media';

export interface Fault {
  id: string;
  kind: FaultKind;
  /** Only for this number; everybody when absent. */
  phone?: string;
  /** Only for this device of the number. */
  device?: number;
  /** How many more times it applies; until removed when absent. */
  count?: number;
  /** For `refuse-connection` the failure reason, for `refuse-send` the error code of the refusal. */
  code?: number;
  /** For `delay-acks`, `delay` and `slow-media`. */
  ms?: number;
  /** For `delay`: up to this much more, at random. */
  jitterMs?: number;
  /** For `refuse-iq`: only queries of this namespace. */
  xmlns?: string;
  /** For `refuse-iq`: the text of the error. */
  text?: string;
  /** For `hold-uploads`: how many wait. */
  waiting?: number;
}

/** Where something happens, to see which faults apply. */
export interface Place {
  phone?: string | undefined;
  device?: number | undefined;
  xmlns?: string | undefined;
}

/** A fault began, had its effect once, or ended. */
export interface FaultEvent {
  what: 'began' | 'struck' | 'ended';
  fault: Fault;
  /** Where it struck, if at a phone. */
  phone?: string;
}

/** The faults in force. */
export class Faults {
  private readonly listeners = new Set<(event: FaultEvent) => void>();
  private readonly inForce = new Map<string, Fault>();
  private readonly onRemoval = new Map<string, () => void>();

  /** Puts a fault in force. `undo` runs when it ends, however it ends. */
  add(fault: Omit<Fault, 'id'>, undo?: () => void): Fault {
    const added: Fault = { id: randomUUID(), ...fault };
    this.inForce.set(added.id, added);
    if (undo) this.onRemoval.set(added.id, undo);
    this.notify({ what: 'began', fault: added });
    return added;
  }

  /** Calls the listener for everything that happens to faults, until the returned function is called. */
  watch(listener: (event: FaultEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  all(): Fault[] {
    return [...this.inForce.values()];
  }

  /** Removes a fault; false when there is none with this id. */
  remove(id: string): boolean {
    const fault = this.inForce.get(id);
    this.inForce.delete(id);
    this.onRemoval.get(id)?.();
    this.onRemoval.delete(id);
    if (fault) this.notify({ what: 'ended', fault });
    return fault !== undefined;
  }

  /** Removes all faults. */
  clear(): void {
    for (const id of [...this.inForce.keys()]) this.remove(id);
  }

  /** Whether any fault is in force. */
  get any(): boolean {
    return this.inForce.size > 0;
  }

  /** The oldest fault of this kind that applies here, without using it up. */
  find(kind: FaultKind, place: Place): Fault | undefined {
    if (this.inForce.size === 0) return undefined;
    for (const fault of this.inForce.values()) {
      if (fault.kind !== kind) continue;
      if (fault.phone !== undefined && fault.phone !== place.phone) continue;
      if (fault.xmlns !== undefined && fault.xmlns !== place.xmlns) continue;
      if (fault.device !== undefined && fault.device !== place.device) continue;
      return fault;
    }
    return undefined;
  }

  /** Like {@link find}, and uses it once: at zero the fault is gone. */
  trigger(kind: FaultKind, place: Place): Fault | undefined {
    const fault = this.find(kind, place);
    if (!fault) return undefined;
    if (fault.count !== undefined) fault.count -= 1;
    this.notify({ what: 'struck', fault, ...(place.phone !== undefined && { phone: place.phone }) });
    if (fault.count !== undefined && fault.count <= 0) this.remove(fault.id);
    return fault;
  }

  private notify(event: FaultEvent): void {
    for (const listener of this.listeners) listener(event);
  }
}
