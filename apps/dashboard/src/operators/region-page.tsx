import { Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useRead } from '../api/api.js';
import { Part } from '../channels/part.js';
import { FailureNote } from '../frame/failure-note.js';
import { Loading } from '../frame/page.js';
import { OperatorPage } from './operator-page.js';
import { Plot } from './plot.js';
import { SessionsPart } from './sessions-part.js';
import { ShardsPart } from './shards-part.js';
import { StuckPart } from './stuck-part.js';
import { WorkersPart } from './workers-part.js';

const route = getRouteApi('/app/operators/regions/$region');

/** One region: what is stuck, workers, shards, sessions, and how it went in the last hour. */
export function RegionPage() {
  const { t } = useTranslation('operators');
  const { t: ofChannels } = useTranslation('channels');
  const { region } = route.useParams();
  const known = ['sg', 'use', 'usw', 'eu'] as const;
  const name = known.find((one) => one === region);
  return (
    <OperatorPage title={name ? ofChannels(`region.${name}`) : region} about={t('region.about')}>
      <StuckPart region={region} />
      <WorkersPart region={region} />
      <ShardsPart region={region} />
      <HistoryPart region={region} />
      <SessionsPart region={region} />
    </OperatorPage>
  );
}

function HistoryPart({ region }: { region: string }) {
  const { t } = useTranslation('operators');
  const { data, error } = useRead('getFleetHistory', { path: { region } }, { everyMs: 15_000 });
  const points = data?.points ?? [];
  const times = points.map(({ at }) => at);
  return (
    <Part title={t('history.title')} about={t('history.about')}>
      <FailureNote error={error} />
      {!data && !error && <Loading />}
      {data && (
        <>
          <Plot
            title={t('history.wakes')}
            times={times}
            lines={[{ label: t('history.wakesLine'), values: points.map(({ wakes }) => wakes.count) }]}
          />
          <Plot
            title={t('history.wakeTimes')}
            unit="ms"
            times={times}
            lines={[
              { label: 'p50', values: points.map(({ wakes }) => wakes.p50_ms) },
              { label: 'p95', values: points.map(({ wakes }) => wakes.p95_ms) },
            ]}
          />
          <Plot
            title={t('history.sessions')}
            times={times}
            lines={(['open', 'hibernated', 'connecting', 'closed'] as const).map((state) => ({
              label: t(`session.${state}`),
              values: points.map(({ sessions }) => sessions?.[state]),
            }))}
          />
          <Plot
            title={t('history.queues')}
            times={times}
            lines={[
              { label: t('history.backlog'), values: points.map(({ backlog }) => backlog) },
              { label: t('history.waiting'), values: points.map(({ waiting }) => waiting) },
            ]}
          />
          <Text size="xs" c="dimmed">
            {t('history.gaps')}
          </Text>
        </>
      )}
    </Part>
  );
}
