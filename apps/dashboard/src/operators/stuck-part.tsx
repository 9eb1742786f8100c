import { Alert, List, Text } from '@mantine/core';
import type { StuckThings } from '@dormouse/management-contract';
import { useTranslation } from 'react-i18next';
import { useRead } from '../api/api.js';
import { Part } from '../channels/part.js';
import { FailureNote } from '../frame/failure-note.js';

const FIRST = 5;

/** What each kind of stuck things is shown by. */
function namesOf(data: StuckThings) {
  const channel = ({ id, reason }: { id: string; reason?: string | undefined }) => (reason ? `${id} (${reason})` : id);
  const webhook = ({ channel_id, webhook: name }: { channel_id: string; webhook: string }) => `${channel_id} ${name}`;
  const late = data.late_commands ?? { total: 0, first: [] };
  return {
    shards_without_owner: {
      ...data.shards_without_owner,
      names: data.shards_without_owner.first.map(({ shard }) => `${shard}`),
    },
    late_commands: { ...late, names: late.first.map(({ shard, waiting }) => `${shard}: ${waiting}`) },
    slow_channels: { ...data.slow_channels, names: data.slow_channels.first.map(channel) },
    closed_channels: { ...data.closed_channels, names: data.closed_channels.first.map(channel) },
    damaged_snapshots: {
      ...data.damaged_snapshots,
      names: data.damaged_snapshots.first.map(({ channel_id }) => channel_id),
    },
    dead_letters: { ...data.dead_letters, names: data.dead_letters.first.map(webhook) },
    failing_webhooks: { ...data.failing_webhooks, names: data.failing_webhooks.first.map(webhook) },
  };
}

const KINDS = [
  ...(['shards_without_owner', 'late_commands', 'slow_channels', 'closed_channels'] as const),
  ...(['damaged_snapshots', 'dead_letters', 'failing_webhooks'] as const),
];

/** What does not mend itself in time, with the next step of the runbook. */
export function StuckPart({ region }: { region: string }) {
  const { t } = useTranslation('operators');
  const { data, error } = useRead('listStuck', { path: { region } }, { everyMs: 5_000 });
  const all = data && namesOf(data);
  const stuck = KINDS.filter((kind) => (all?.[kind].total ?? 0) > 0);
  return (
    <Part title={t('stuck.title')}>
      <FailureNote error={error} />
      {data && stuck.length === 0 && <Text size="sm">{t('stuck.none')}</Text>}
      {data && data.late_commands === undefined && <Text size="sm">{t('stuck.noQueues')}</Text>}
      {all &&
        stuck.map((kind) => (
          <Alert key={kind} color="orange" title={t(`stuck.${kind}.title`, { n: all[kind].total })}>
            <Text size="sm">{t(`stuck.${kind}.step`)}</Text>
            <List size="sm">
              {all[kind].names.slice(0, FIRST).map((name) => (
                <List.Item key={name} style={{ overflowWrap: 'anywhere' }}>
                  {name}
                </List.Item>
              ))}
            </List>
          </Alert>
        ))}
    </Part>
  );
}
