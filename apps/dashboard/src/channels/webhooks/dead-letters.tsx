import { Button, Checkbox, Code, Group, Stack, Text } from '@mantine/core';
import type { DeadLetterShape } from '@dormouse/management-contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAction, useRead } from '../../api/api.js';
import { FailureNote } from '../../frame/failure-note.js';
import { Disclosure } from '../disclosure.js';
import { useMayChange } from '../may-change.js';
import { Part } from '../part.js';
import { useTimes } from '../times.js';

const PAGE = 50;
const REFRESH_MS = 3_000;

/** Events that the webhook did not accept for 72 h, and delivering some or all of them again. */
export function DeadLetters({ channelId, webhookId }: { channelId: string; webhookId: string }) {
  const { t } = useTranslation('webhooks');
  const mayChange = useMayChange();
  const [offset, setOffset] = useState(0);
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const path = { id: channelId, webhook: webhookId };
  const letters = useRead(
    'listDeadLetters',
    { path, query: { count: PAGE, offset } },
    { everyMs: REFRESH_MS, keepsFormer: true },
  );
  const redrive = useAction('redriveDeadLetters', {
    changes: ['listDeadLetters', 'listWebhooks'],
    onDone: () => setChosen(new Set()),
  });
  const total = letters.data?.total ?? 0;
  const choose = (sequence: number, isChosen: boolean): void => {
    const next = new Set(chosen);
    if (isChosen) next.add(sequence);
    else next.delete(sequence);
    setChosen(next);
  };
  return (
    <Part title={t('dead.title')} about={t('dead.about')}>
      <FailureNote error={letters.error ?? redrive.error} />
      {letters.data && total === 0 && <Text size="sm">{t('dead.none')}</Text>}
      {total > 0 && mayChange && (
        <Group>
          <Button
            size="xs"
            variant="default"
            disabled={chosen.size === 0}
            onClick={() => redrive.mutate({ path, body: { sequences: [...chosen] } })}
          >
            {t('dead.redriveSome', { n: chosen.size })}
          </Button>
          <Button size="xs" loading={redrive.isPending} onClick={() => redrive.mutate({ path, body: {} })}>
            {t('dead.redriveAll', { n: total })}
          </Button>
        </Group>
      )}
      {redrive.data && (
        <Text size="sm" role="status">
          {t('dead.redriven', { n: redrive.data.redriving })}
        </Text>
      )}
      <Stack gap="xs">
        {letters.data?.dead_letters.map((letter) => (
          <Letter
            key={letter.sequence}
            letter={letter}
            isChosen={chosen.has(letter.sequence)}
            onChoose={mayChange ? (isChosen) => choose(letter.sequence, isChosen) : undefined}
          />
        ))}
      </Stack>
      <Pages offset={offset} total={total} onGo={setOffset} />
    </Part>
  );
}

interface LetterProps {
  letter: DeadLetterShape;
  isChosen: boolean;
  onChoose: ((isChosen: boolean) => void) | undefined;
}

function Letter({ letter, isChosen, onChoose }: LetterProps) {
  const { t } = useTranslation('webhooks');
  const { moment } = useTimes();
  const { sequence, type, method, redriving, last_status: status, last_error: error } = letter;
  const reason = [status === undefined ? undefined : t('delivery.status', { status }), error]
    .filter(Boolean)
    .join(', ');
  return (
    <Group gap="sm" align="flex-start" wrap="nowrap">
      {onChoose && (
        <Checkbox
          aria-label={t('dead.choose', { sequence })}
          checked={isChosen}
          disabled={redriving}
          mt={8}
          onChange={({ currentTarget: { checked } }) => onChoose(checked)}
        />
      )}
      <Stack gap={2} style={{ flex: 1, minWidth: 0 }}>
        <Disclosure
          label={
            <>
              <b>
                {type}.{method}
              </b>
              <span>{t('dead.facts', { sequence, n: letter.attempts, time: moment(letter.died_at * 1_000) })}</span>
            </>
          }
        >
          <Code block className="raw-text" tabIndex={0} aria-label={t('dead.body')}>
            {JSON.stringify(letter.body, undefined, 2)}
          </Code>
        </Disclosure>
        {reason !== '' && <Text size="sm">{reason}</Text>}
        {redriving && <Text size="sm">{t('dead.redriving')}</Text>}
      </Stack>
    </Group>
  );
}

function Pages({ offset, total, onGo }: { offset: number; total: number; onGo: (offset: number) => void }) {
  const { t } = useTranslation('webhooks');
  if (total <= PAGE) return null;
  return (
    <Group gap="sm">
      <Button size="xs" variant="default" disabled={offset === 0} onClick={() => onGo(Math.max(0, offset - PAGE))}>
        {t('pages.before')}
      </Button>
      <Text size="sm">{t('pages.range', { from: offset + 1, to: Math.min(offset + PAGE, total), total })}</Text>
      <Button size="xs" variant="default" disabled={offset + PAGE >= total} onClick={() => onGo(offset + PAGE)}>
        {t('pages.after')}
      </Button>
    </Group>
  );
}
