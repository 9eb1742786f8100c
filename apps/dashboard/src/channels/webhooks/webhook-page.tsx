import { Paper, Stack, Text, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useRead } from '../../api/api.js';
import { FailureNote } from '../../frame/failure-note.js';
import { Loading } from '../../frame/page.js';
import { useMayChange } from '../may-change.js';
import { useChannel } from '../shown-channel.js';
import { DeadLetters } from './dead-letters.js';
import { DeliveryLog } from './delivery-log.js';
import { Replay } from './replay.js';
import { TestEvent } from './test-event.js';
import { WebhookFigures } from './webhook-figures.js';
import { LinkAnchor } from '../../frame/links.js';

const route = getRouteApi('/app/channels/$channel/webhooks/$webhook');
const REFRESH_MS = 3_000;

/** One webhook: its figures, dead letters, delivery log, and delivering again. */
export function WebhookPage() {
  const { t } = useTranslation('webhooks');
  const { webhook: webhookId } = route.useParams();
  const { id } = useChannel();
  const mayChange = useMayChange();
  const webhooks = useRead('listWebhooks', { path: { id } }, { everyMs: REFRESH_MS });
  if (webhooks.isPending) return <Loading />;
  const webhook = webhooks.data?.webhooks.find((entry) => entry.id === webhookId);
  return (
    <Stack gap="md">
      <LinkAnchor to="/channels/$channel/webhooks" params={{ channel: id }} size="sm">
        {t('all')}
      </LinkAnchor>
      <FailureNote error={webhooks.error} />
      {webhooks.data && !webhook && <Text>{t('gone')}</Text>}
      {webhook && (
        <>
          <Paper withBorder p="md" component="section" aria-label={webhook.url}>
            <Stack gap="sm">
              <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
                {webhook.url}
              </Title>
              <WebhookFigures webhook={webhook} />
              {mayChange && <TestEvent channelId={id} webhookId={webhook.id} />}
            </Stack>
          </Paper>
          <DeadLetters channelId={id} webhookId={webhook.id} />
          {mayChange && <Replay channelId={id} webhookId={webhook.id} />}
          <DeliveryLog channelId={id} webhookId={webhook.id} />
        </>
      )}
    </Stack>
  );
}
