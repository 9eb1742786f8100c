import { Button, Group, Modal, Stack, Text, type ButtonProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { FailureNote } from './failure-note.js';

interface ConfirmButtonProps extends ButtonProps {
  /** The button, and the one in the dialog that does it. */
  label: string;
  /** For screen readers, where several buttons have the same text. */
  name?: string;
  title: string;
  /** What will happen. */
  text: string;
  /** Further fields of the dialog. */
  children?: ReactNode;
  action: { isPending: boolean; error: Error | null; reset: () => void };
  isDisabled?: boolean;
  /** Does it; the dialog closes when the promise resolves. */
  onConfirm: () => Promise<unknown>;
}

/** A button for what cannot be undone: a dialog shows what happens, and does it. */
export function ConfirmButton({
  label,
  name,
  title,
  text,
  children,
  action,
  isDisabled = false,
  onConfirm,
  ...button
}: ConfirmButtonProps) {
  const { t } = useTranslation();
  const [isOpen, { open, close }] = useDisclosure();
  const confirm = (): void => void onConfirm().then(close, () => undefined);
  const start = (): void => {
    action.reset();
    open();
  };
  return (
    <>
      <Button variant="default" {...button} aria-label={name} onClick={start}>
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={title} closeButtonProps={{ 'aria-label': t('close') }}>
        <Stack>
          <Text size="sm">{text}</Text>
          {children}
          <FailureNote error={action.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {t('cancel')}
            </Button>
            <Button color="red" loading={action.isPending} disabled={isDisabled} onClick={confirm}>
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
