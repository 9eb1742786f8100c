import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useRead } from '../../api/api.js';
import { FailureNote } from '../../frame/failure-note.js';
import { Part } from '../part.js';
import { DeliveryEntry } from './delivery-entry.js';

const PAGE = 25;
const REFRESH_MS = 3_000;

/** Delivery attempts, newest first; the first page follows what happens. */
export function DeliveryLog({ channelId, webhookId }: { channelId: string; webhookId: string }) {
  const { t } = useTranslation('webhooks');
  const [before, setBefore] = useState<string>();
  const log = useRead(
    'listDeliveries',
    { path: { id: channelId, webhook: webhookId }, query: { count: PAGE, before } },
    { keepsFormer: true, ...(before === undefined ? { everyMs: REFRESH_MS } : {}) },
  );
  const next = log.data?.next;
  return (
    <Part title={t('log.title')} about={t('log.about')}>
      <FailureNote error={log.error} />
      {log.data?.deliveries.length === 0 && <Text size="sm">{t('log.none')}</Text>}
      <Stack gap="md" role="list">
        {log.data?.deliveries.map((delivery) => (
          <div key={`${delivery.sequence}.${delivery.attempt}.${delivery.at_ms}`} role="listitem">
            <DeliveryEntry delivery={delivery} />
          </div>
        ))}
      </Stack>
      <Group gap="sm">
        {before !== undefined && (
          <Button size="xs" variant="default" onClick={() => setBefore(undefined)}>
            {t('log.newest')}
          </Button>
        )}
        {next !== undefined && (
          <Button size="xs" variant="default" onClick={() => setBefore(next)}>
            {t('log.older')}
          </Button>
        )}
      </Group>
    </Part>
  );
}
