import { Badge, Button, Group, Paper, Stack, Text } from '@mantine/core';
import type { FleetWorker } from '@dormouse/management-contract';
import { useTranslation } from 'react-i18next';
import { useAction, useRead } from '../api/api.js';
import { Part } from '../channels/part.js';
import { useTimes } from '../channels/times.js';
import { FailureNote } from '../frame/failure-note.js';
import { Loading } from '../frame/page.js';

/** While shards move, what is shown changes every second. */
const EVERY_MS = 1_000;

/** The workers of a region, with drain and its end. */
export function WorkersPart({ region }: { region: string }) {
  const { t } = useTranslation('operators');
  const { data, error } = useRead('listFleetWorkers', { path: { region } }, { everyMs: EVERY_MS });
  return (
    <Part title={t('workers.title')} about={t('workers.about')}>
      <FailureNote error={error} />
      {!data && !error && <Loading />}
      <Stack gap="xs" role="list" aria-label={t('workers.title')}>
        {data?.workers.map((worker) => (
          <WorkerRow key={worker.id} region={region} worker={worker} />
        ))}
      </Stack>
    </Part>
  );
}

function WorkerRow({ region, worker }: { region: string; worker: FleetWorker }) {
  const { t } = useTranslation('operators');
  const { duration } = useTimes();
  const changes = ['listFleetWorkers', 'listFleetShards'] as const;
  const drain = useAction('drainFleetWorker', { changes });
  const undrain = useAction('undrainFleetWorker', { changes });
  const { id, version, shards, state, living } = worker;
  const isDrained = worker.drain_asked_at !== undefined;
  const act = isDrained ? undrain : drain;
  const name = t(isDrained ? 'workers.undrain' : 'workers.drain');
  return (
    <Paper withBorder p="sm" role="listitem">
      <Group justify="space-between" wrap="wrap">
        <div style={{ minWidth: 0 }}>
          <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
            {id}
          </Text>
          <Text size="sm" c="dimmed">
            {t('workers.facts', { version, n: shards.length, age: duration(worker.heartbeat_age_s) })}
          </Text>
        </div>
        <Group gap="sm">
          <Badge variant="light" color={living ? 'moss' : 'red'}>
            {living ? t(`workers.state.${state}`) : t('workers.gone')}
          </Badge>
          {living && (
            <Button
              size="xs"
              variant="default"
              loading={act.isPending}
              aria-label={`${name}: ${id}`}
              onClick={() => act.mutate({ path: { region, worker: id } })}
            >
              {name}
            </Button>
          )}
        </Group>
      </Group>
      <FailureNote error={drain.error ?? undrain.error} />
    </Paper>
  );
}
