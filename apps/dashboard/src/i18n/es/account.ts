import type { Catalogue } from '../catalogue.js';

export const account: Catalogue['account'] = {
  name: 'Nombre de la cuenta',
  first: {
    title: 'Pon nombre a tu cuenta',
    about:
      'Los canales pertenecen a una cuenta, igual que las personas que trabajan con ellos. El nombre de tu empresa es una buena elección.',
    submit: 'Crear cuenta',
    invited: '¿Te invitaron a una cuenta? Abre el enlace de la invitación: serás miembro cuando la aceptes.',
  },
};
