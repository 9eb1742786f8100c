import { Alert, Button, Code, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import type { ManagedChannel } from '@dormouse/management-contract';
import { useTranslation } from 'react-i18next';
import { useToken } from './channel-tokens.js';
import { curlOf, sendText, type GatewayAnswer } from './gateway.js';
import { useGatewayUrl } from './use-gateway-url.js';
import { isLinked } from './link-number.js';
import { StepCard } from './step-card.js';

/** A message to oneself: a real request from this page to the gateway, shown with its answer. */
export function FirstMessage({ channel }: { channel: ManagedChannel }) {
  const { t } = useTranslation('firstRun');
  const token = useToken(channel.id);
  const gatewayUrl = useGatewayUrl(channel.region);
  if (!isLinked(channel)) return <StepCard title={t('message.title')} about={t('message.later')} />;
  if (gatewayUrl === undefined) return <StepCard title={t('message.title')} about={t('message.noAddress')} />;
  if (token === undefined) return <StepCard title={t('message.title')} about={t('message.noToken')} />;
  return <MessageForm phone={channel.phone ?? ''} gatewayUrl={gatewayUrl} token={token} />;
}

function MessageForm({ phone, gatewayUrl, token }: { phone: string; gatewayUrl: string; token: string }) {
  const { t } = useTranslation('firstRun');
  const form = useForm({ initialValues: { to: phone, body: t('message.hello') } });
  const send = useMutation({
    mutationFn: (message: typeof form.values) => sendText({ gatewayUrl, token, ...message }),
  });
  return (
    <StepCard title={t('message.title')} about={t('message.about')} isDone={send.data?.status === 200}>
      <form onSubmit={form.onSubmit((message) => send.mutate(message))}>
        <Stack gap="sm" maw={560}>
          <TextInput label={t('message.to')} inputMode="tel" {...form.getInputProps('to')} />
          <Textarea label={t('message.text')} autosize minRows={1} {...form.getInputProps('body')} />
          <Button type="submit" loading={send.isPending} style={{ alignSelf: 'flex-start' }}>
            {t('message.send')}
          </Button>
        </Stack>
      </form>
      {send.error && (
        <Alert color="red" role="alert" title={t('message.unreachable')}>
          {t('message.unreachableHelp', { address: gatewayUrl })}
        </Alert>
      )}
      {send.data && send.variables && <Exchange request={curlOf(gatewayUrl, '…', send.variables)} answer={send.data} />}
    </StepCard>
  );
}

/** A request and its answer, as they were. The token is left out. */
function Exchange({ request, answer }: { request: string; answer: GatewayAnswer }) {
  const { t } = useTranslation('firstRun');
  return (
    <Stack gap="xs">
      <Text size="sm" fw={600}>
        {t('message.request')}
      </Text>
      <Code block className="raw-text" tabIndex={0} aria-label={t('message.request')}>
        {request}
      </Code>
      <Text size="sm" fw={600} role="status">
        {t('message.answer', { status: answer.status, ms: answer.tookMs })}
      </Text>
      <Code block className="raw-text" tabIndex={0} aria-label={t('message.answerLabel')}>
        {answer.text}
      </Code>
    </Stack>
  );
}
