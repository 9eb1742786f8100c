import { Button, Group, Stack, Text } from '@mantine/core';
import type { PulledEvent } from '@dormouse/management-contract';
import { useState, useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/api.js';
import { useEventStream } from '../../api/use-event-stream.js';
import { EventRow } from './event-row.js';
import { LiveEvents } from './live-events.js';

const NEWEST = 200;
const EVENTS = ['message'];

/** The address of the stream from after an event on. */
function after(address: string, lastEventId: string): string {
  const url = new URL(address, location.origin);
  url.searchParams.set('cursor', lastEventId);
  return url.pathname + url.search;
}

/** Events as they happen, newest first; may be paused. */
export function LiveList({ channelId }: { channelId: string }) {
  const { t } = useTranslation('events');
  const [live] = useState(() => new LiveEvents(NEWEST));
  const view = useSyncExternalStore(live.subscribe, () => live.view);
  const state = useEventStream({
    address: api.streamAddress('listEvents', { path: { id: channelId }, query: { cursor: 'latest' } }),
    events: EVENTS,
    onEvent: ({ data }) => live.add(data as PulledEvent),
    after,
  });
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Text size="sm" role="status">
          {t(`live.state.${view.isPaused ? 'paused' : state}`)}
          {view.waiting > 0 && ` ${t('live.waiting', { n: view.waiting })}`}
        </Text>
        <Group gap="xs">
          <Button size="xs" variant="default" aria-pressed={view.isPaused} onClick={() => live.pause(!view.isPaused)}>
            {t(view.isPaused ? 'live.continue' : 'live.pause')}
          </Button>
          <Button size="xs" variant="default" onClick={() => live.clear()}>
            {t('live.clear')}
          </Button>
        </Group>
      </Group>
      {view.events.length === 0 ? (
        <Text size="sm">{t('live.none')}</Text>
      ) : (
        <div role="list" aria-label={t('live.name')}>
          {view.events.map((event) => (
            <EventRow key={event.sequence} event={event} />
          ))}
        </div>
      )}
      {view.events.length >= NEWEST && <Text size="sm">{t('live.more', { n: NEWEST })}</Text>}
    </Stack>
  );
}
