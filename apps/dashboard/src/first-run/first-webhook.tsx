import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ManagedChannel } from '@dormouse/management-contract';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { carryOut, queryClient, useRead } from '../api/api.js';
import { FailureNote, fieldFault } from '../frame/failure-note.js';
import { TestEvent } from '../channels/webhooks/test-event.js';
import { StepCard } from './step-card.js';
import { LinkAnchor } from '../frame/links.js';

/** The address that events go to, and a test event with what the address answered. */
export function FirstWebhook({ channel }: { channel: ManagedChannel }) {
  const { t } = useTranslation('firstRun');
  const webhooks = useRead('listWebhooks', { path: { id: channel.id } });
  const [first] = webhooks.data?.webhooks ?? [];
  return (
    <StepCard title={t('webhook.title')} about={t('webhook.about')} isDone={first !== undefined}>
      <FailureNote error={webhooks.error} />
      {webhooks.data && !first && <WebhookForm channelId={channel.id} />}
      {first && (
        <Stack gap="xs" align="flex-start">
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {t('webhook.is')} <b>{first.url}</b>
          </Text>
          <TestEvent channelId={channel.id} webhookId={first.id} />
          <Group gap="md">
            <LinkAnchor to="/channels/$channel/settings" params={{ channel: channel.id }} size="sm">
              {t('webhook.choose')}
            </LinkAnchor>
          </Group>
        </Stack>
      )}
    </StepCard>
  );
}

function WebhookForm({ channelId }: { channelId: string }) {
  const { t } = useTranslation('firstRun');
  const form = useForm({
    initialValues: { url: '' },
    validate: { url: (url) => (/^https?:\/\/./.test(url.trim()) ? null : t('webhook.urlFault')) },
  });
  const save = useMutation({
    // What was added elsewhere meanwhile stays.
    mutationFn: async (url: string) => {
      const { webhooks } = await carryOut('getSettings', { path: { id: channelId } });
      await carryOut('changeSettings', { path: { id: channelId }, body: { webhooks: [...webhooks, { url }] } });
    },
    onSuccess: () =>
      Promise.all(['listWebhooks', 'getSettings'].map((name) => queryClient.invalidateQueries({ queryKey: [name] }))),
  });
  return (
    <form noValidate onSubmit={form.onSubmit(({ url }) => save.mutate(url.trim()))}>
      <Stack gap="sm" maw={560}>
        <TextInput
          label={t('webhook.url')}
          type="url"
          placeholder="https://example.com/hook"
          {...form.getInputProps('url')}
          error={form.errors['url'] ?? fieldFault(save.error, 'webhooks')}
        />
        <FailureNote error={save.error} fields={['webhooks']} />
        <Button type="submit" loading={save.isPending} style={{ alignSelf: 'flex-start' }}>
          {t('webhook.save')}
        </Button>
      </Stack>
    </form>
  );
}
