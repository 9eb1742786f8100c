import { useEffect, useEffectEvent, useState } from 'react';
import { EventStream } from './event-stream.js';

interface StreamUse {
  /** Address of the stream; another one ends the stream before. Undefined: no stream. */
  address: string | undefined;
  events: readonly string[];
  /** @returns true to end the stream for good */
  onEvent: (event: { name: string; data: unknown }) => boolean | void;
  /** The address that continues after an event, for streams that can. */
  after?: (address: string, lastEventId: string) => string;
}

/** Reads server-sent events while the component is shown. @returns whether the stream is open, away, or not yet either */
export function useEventStream({ address, events, onEvent, after }: StreamUse): 'opening' | 'open' | 'away' {
  const [state, setState] = useState<'opening' | 'open' | 'away'>('opening');
  const handle = useEffectEvent(onEvent);
  const addressAfter = useEffectEvent((base: string, id: string | undefined) =>
    id === undefined || !after ? base : after(base, id),
  );
  const names = events.join(' ');
  useEffect(() => {
    if (address === undefined) return undefined;
    setState('opening');
    const stream: EventStream = new EventStream({
      address: (id) => addressAfter(address, id),
      events: names.split(' '),
      onEvent: (event) => {
        if (handle(event) === true) stream.close();
      },
      onOpen: () => setState('open'),
      onAway: () => setState('away'),
    });
    return () => stream.close();
  }, [address, names]);
  return state;
}
