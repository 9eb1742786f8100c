import { Alert, Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ManagedChannel } from '@dormouse/management-contract';
import { useTranslation } from 'react-i18next';
import { useAction } from '../api/api.js';
import { CopyField } from '../frame/copy-field.js';
import { FailureNote } from '../frame/failure-note.js';
import { keepToken, useToken } from './channel-tokens.js';
import { curlOf } from './gateway.js';
import { useGatewayUrl } from './use-gateway-url.js';
import { StepCard } from './step-card.js';

/** The token of a new channel, shown once; later, how to get along without it. */
export function TokenStep({ channel }: { channel: ManagedChannel }) {
  const { t } = useTranslation('firstRun');
  const token = useToken(channel.id);
  const gatewayUrl = useGatewayUrl(channel.region);
  if (token === undefined) {
    return (
      <StepCard title={t('token.title')} about={t('token.wasShown')}>
        <TokenForm channel={channel} />
      </StepCard>
    );
  }
  return (
    <StepCard title={t('token.title')} isDone>
      <Alert color="yellow" title={t('token.once')}>
        {t('token.keep')}
      </Alert>
      <CopyField value={token} label={t('token.label')} />
      {gatewayUrl !== undefined && (
        <>
          <Text size="sm">{t('token.curl')}</Text>
          <CopyField
            value={curlOf(gatewayUrl, token, { to: channel.phone ?? '4915112345678', body: t('message.hello') })}
            label={t('token.curlLabel')}
          />
        </>
      )}
    </StepCard>
  );
}

/** The token again: pasted, or a new one, which ends the old one. It stays in the memory of the page. */
export function TokenForm({ channel }: { channel: ManagedChannel }) {
  const { t } = useTranslation('firstRun');
  const form = useForm({
    initialValues: { token: '' },
    validate: { token: (token) => (token.trim() === '' ? t('token.missing') : null) },
  });
  const rotate = useAction('rotateToken', { onDone: ({ token }) => keepToken(channel.id, token) });
  return (
    <form onSubmit={form.onSubmit(({ token }) => keepToken(channel.id, token.trim()))}>
      <Stack gap="sm" maw={560}>
        <PasswordInput label={t('token.paste')} autoComplete="off" {...form.getInputProps('token')} />
        <FailureNote error={rotate.error} />
        <Group>
          <Button type="submit" variant="default">
            {t('token.use')}
          </Button>
          <Button
            variant="default"
            loading={rotate.isPending}
            onClick={() => rotate.mutate({ path: { id: channel.id } })}
          >
            {t('token.rotate')}
          </Button>
        </Group>
        <Text size="xs">{t('token.rotateMeans')}</Text>
      </Stack>
    </form>
  );
}
