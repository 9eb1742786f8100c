import { Alert, Button, Loader, Progress, Stack, Text } from '@mantine/core';
import type { LoginStep } from '@dormouse/management-contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, queryClient } from '../api/api.js';
import { useEventStream } from '../api/use-event-stream.js';
import { QrCode } from './qr-code.js';
import { useCountdown } from './use-countdown.js';

const EVENTS = ['code', 'linked', 'failed'] as const satisfies readonly LoginStep['event'][];

/** The last step, and when it arrived by performance.now(). */
interface Shown {
  step: LoginStep;
  atMs: number;
}

/**
 * The code that is valid now, pushed by the server: each new one replaces the one before, and one that is over is hidden even
 * while no other has arrived.
 * @param phone for a code of eight letters instead of one to scan
 */
export function LoginCode({ channelId, phone }: { channelId: string; phone?: string }) {
  const { t } = useTranslation('firstRun');
  const [attempt, setAttempt] = useState(0);
  return (
    <Stack gap="xs" aria-label={t('link.code')} role="group">
      <CodeStream key={attempt} channelId={channelId} phone={phone} onAgain={() => setAttempt(attempt + 1)} />
    </Stack>
  );
}

interface CodeStreamProps {
  channelId: string;
  phone: string | undefined;
  onAgain: () => void;
}

function CodeStream({ channelId, phone, onAgain }: CodeStreamProps) {
  const { t } = useTranslation('firstRun');
  const [shown, setShown] = useState<Shown>();
  const stream = useEventStream({
    address: api.streamAddress('watchLogin', { path: { id: channelId }, query: { phone } }),
    events: EVENTS,
    onEvent: ({ data }) => {
      const step = data as LoginStep;
      setShown({ step, atMs: performance.now() });
      if (step.event === 'linked') void queryClient.invalidateQueries({ queryKey: ['getChannel'] });
      // The server closes then; a browser would open the stream again.
      return (step.event === 'linked' && step.name !== undefined) || isFinal(step);
    },
  });
  return (
    <>
      {stream === 'away' && <Text role="status">{t('link.streamAway')}</Text>}
      {!shown && stream !== 'away' && <Waiting />}
      {shown?.step.event === 'code' && <Code code={shown.step} atMs={shown.atMs} />}
      {shown?.step.event === 'linked' && <Text role="status">{t('link.justLinked', { phone: shown.step.phone })}</Text>}
      {shown?.step.event === 'failed' && <NoCode step={shown.step} onAgain={onAgain} />}
    </>
  );
}

function isFinal(step: LoginStep): boolean {
  return step.event === 'failed' && step.retry_after_s === undefined;
}

function Waiting() {
  const { t } = useTranslation('firstRun');
  return <Loader aria-label={t('link.codeComes')} />;
}

function Code({ code, atMs }: { code: Extract<LoginStep, { event: 'code' }>; atMs: number }) {
  const { t } = useTranslation('firstRun');
  const leftMs = useCountdown(atMs, code.valid_ms);
  if (leftMs === 0) return <Waiting />;
  const seconds = Math.ceil(leftMs / 1_000);
  return (
    <Stack gap={6} maw={280}>
      {code.by === 'scan' ? (
        <QrCode text={code.code} label={t('link.codeLabel')} />
      ) : (
        <Text className="letters" aria-label={t('link.lettersLabel', { letters: code.code.split('').join(' ') })}>
          {code.code.slice(0, 4)}-{code.code.slice(4)}
        </Text>
      )}
      <Progress value={(leftMs / code.valid_ms) * 100} size="sm" aria-label={t('link.timeLeft')} />
      <Text size="sm">{t('link.validFor', { seconds })}</Text>
    </Stack>
  );
}

function NoCode({ step, onAgain }: { step: Extract<LoginStep, { event: 'failed' }>; onAgain: () => void }) {
  const { t } = useTranslation('firstRun');
  return (
    <Alert color="yellow" title={t(`link.failed.${step.reason}`)} role="status">
      <Stack gap="xs" align="flex-start">
        {step.reason === 'unavailable' && <Text size="sm">{step.details}</Text>}
        {step.retry_after_s === undefined ? (
          <Button size="xs" onClick={onAgain}>
            {t('link.again')}
          </Button>
        ) : (
          <Text size="sm">{t('link.triedAgain', { seconds: step.retry_after_s })}</Text>
        )}
      </Stack>
    </Alert>
  );
}
