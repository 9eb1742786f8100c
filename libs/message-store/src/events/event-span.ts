import { inSpan } from '@dormouse/traces';

const EVENTS = {
  'messaging.system': 'postgresql',
  'messaging.destination.name': 'events',
  'messaging.operation.name': 'send',
  'messaging.operation.type': 'send',
} as const;

/** Runs work that writes events: they name this span, and what delivers them continues its trace. */
export function writingEvents<T>(work: () => Promise<T>): Promise<T> {
  return inSpan('send events', { kind: 'producer', facts: EVENTS }, work);
}
