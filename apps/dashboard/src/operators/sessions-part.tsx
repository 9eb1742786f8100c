import { Button, Group, NativeSelect, Paper, Stack, Text } from '@mantine/core';
import type { FleetChannel } from '@dormouse/management-contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAction, useRead } from '../api/api.js';
import { Part } from '../channels/part.js';
import { useTimes } from '../channels/times.js';
import { FailureNote } from '../frame/failure-note.js';

const STATES = ['open', 'hibernated', 'waking', 'connecting', 'qr', 'hibernating', 'closed'] as const;
type State = (typeof STATES)[number];

/** Sessions in a state, with sleep and wake. */
export function SessionsPart({ region }: { region: string }) {
  const { t } = useTranslation('operators');
  const [state, setState] = useState<State>('open');
  const input = { path: { region }, query: { state, count: '50' } };
  const { data, error } = useRead('listFleetChannels', input, { everyMs: 5_000, keepsFormer: true });
  return (
    <Part title={t('sessions.title')} about={t('sessions.about')}>
      <NativeSelect
        label={t('sessions.state')}
        maw={280}
        data={STATES.map((each) => ({ value: each, label: t(`session.${each}`) }))}
        value={state}
        onChange={({ currentTarget: { value } }) => setState(STATES.find((each) => each === value) ?? 'open')}
      />
      <FailureNote error={error} />
      {data && (
        <Text size="sm" role="status">
          {t('sessions.total', { shown: data.channels.length, total: data.total })}
        </Text>
      )}
      <Stack gap="xs" role="list" aria-label={t('sessions.title')}>
        {data?.channels.map((channel) => (
          <SessionRow key={channel.id} region={region} channel={channel} />
        ))}
      </Stack>
    </Part>
  );
}

function SessionRow({ region, channel }: { region: string; channel: FleetChannel }) {
  const { t } = useTranslation('operators');
  const { duration } = useTimes();
  const changes = ['listFleetChannels'] as const;
  const sleep = useAction('putFleetChannelToSleep', { changes });
  const wake = useAction('wakeFleetChannel', { changes });
  const { id, shard, for_s: forS, reason, state, linked } = channel;
  const act = state === 'open' ? sleep : state === 'hibernated' && linked ? wake : undefined;
  const name = t(state === 'open' ? 'sessions.sleep' : 'sessions.wake');
  return (
    <Paper withBorder p="xs" role="listitem">
      <Group justify="space-between" wrap="wrap">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          <b>{id}</b> {t('sessions.facts', { shard, time: duration(forS) })} {reason}
        </Text>
        {act && (
          <Button
            size="xs"
            variant="default"
            loading={act.isPending}
            aria-label={`${name}: ${id}`}
            onClick={() => act.mutate({ path: { region, id } })}
          >
            {name}
          </Button>
        )}
      </Group>
      <FailureNote error={sleep.error ?? wake.error} />
    </Paper>
  );
}
