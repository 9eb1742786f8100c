import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useRead } from '../../api/api.js';
import { FailureNote, fieldFault } from '../../frame/failure-note.js';
import { Loading } from '../../frame/page.js';
import { EventRow } from './event-row.js';

const PAGE = 100;

/** Stored events in sequence, page by page, as a program reads them by cursor. */
export function StoredList({ channelId }: { channelId: string }) {
  const { t } = useTranslation('events');
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const [typed, setTyped] = useState('');
  const cursor = cursors.at(-1);
  const page = useRead(
    'listEvents',
    { path: { id: channelId }, query: { count: PAGE, cursor } },
    { keepsFormer: true },
  );
  const next = page.data?.cursor;
  return (
    <Stack gap="sm">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setCursors(typed === '' ? [] : [typed]);
        }}
      >
        <Group align="flex-end" gap="sm">
          <TextInput
            label={t('stored.after')}
            inputMode="numeric"
            value={typed}
            error={fieldFault(page.error, 'cursor')}
            onChange={({ currentTarget: { value } }) => setTyped(value.trim())}
          />
          <Button type="submit" variant="default">
            {t('stored.go')}
          </Button>
        </Group>
      </form>
      <FailureNote error={page.error} fields={['cursor']} />
      {page.isPending && <Loading />}
      {page.data?.events.length === 0 && <Text size="sm">{t('stored.none')}</Text>}
      {page.data && page.data.events.length > 0 && (
        <div role="list" aria-label={t('stored.name')}>
          {page.data.events.map((event) => (
            <EventRow key={event.sequence} event={event} />
          ))}
        </div>
      )}
      <Group gap="sm">
        <Button
          size="xs"
          variant="default"
          disabled={cursors.length === 0}
          onClick={() => setCursors(cursors.slice(0, -1))}
        >
          {t('stored.before')}
        </Button>
        <Button
          size="xs"
          variant="default"
          disabled={page.data?.more !== true}
          onClick={() => next !== undefined && setCursors([...cursors, next])}
        >
          {t('stored.next')}
        </Button>
        {next !== undefined && <Text size="sm">{t('stored.cursor', { cursor: next })}</Text>}
      </Group>
    </Stack>
  );
}
