import { Group, Paper, Stack, Text, Title } from '@mantine/core';
import type { WebhookState } from '@dormouse/management-contract';
import { useTranslation } from 'react-i18next';
import { useRead } from '../../api/api.js';
import { FailureNote } from '../../frame/failure-note.js';
import { Loading } from '../../frame/page.js';
import { useMayChange } from '../may-change.js';
import { useChannel } from '../shown-channel.js';
import { TestEvent } from './test-event.js';
import { WebhookFigures } from './webhook-figures.js';
import { LinkAnchor, LinkButton } from '../../frame/links.js';

const REFRESH_MS = 3_000;

/** The webhooks of a channel: what waits, what fails, and what was given up. */
export function WebhooksPage() {
  const { t } = useTranslation('webhooks');
  const { id } = useChannel();
  const mayChange = useMayChange();
  const webhooks = useRead('listWebhooks', { path: { id } }, { everyMs: REFRESH_MS });
  if (webhooks.isPending) return <Loading />;
  const list = webhooks.data?.webhooks ?? [];
  return (
    <Stack gap="md">
      <FailureNote error={webhooks.error} />
      {webhooks.data && list.length === 0 && <Text>{t('none')}</Text>}
      {list.map((webhook) => (
        <WebhookCard key={webhook.id} channelId={id} webhook={webhook} />
      ))}
      {mayChange && (
        <LinkButton
          to="/channels/$channel/settings"
          params={{ channel: id }}
          variant="default"
          style={{ alignSelf: 'flex-start' }}
        >
          {t('edit')}
        </LinkButton>
      )}
    </Stack>
  );
}

function WebhookCard({ channelId, webhook }: { channelId: string; webhook: WebhookState }) {
  const { t } = useTranslation('webhooks');
  const mayChange = useMayChange();
  return (
    <Paper withBorder p="md" component="section" aria-label={webhook.url}>
      <Stack gap="sm">
        <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
          {webhook.url}
        </Title>
        <WebhookFigures webhook={webhook} />
        <Group gap="md">
          <LinkAnchor to="/channels/$channel/webhooks/$webhook" params={{ channel: channelId, webhook: webhook.id }}>
            {t('open')}
          </LinkAnchor>
        </Group>
        {mayChange && <TestEvent channelId={channelId} webhookId={webhook.id} />}
      </Stack>
    </Paper>
  );
}
