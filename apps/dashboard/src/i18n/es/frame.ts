import type { Catalogue } from '../catalogue.js';

export const frame: Catalogue['frame'] = {
  loading: 'Cargando',
  cancel: 'Cancelar',
  save: 'Guardar',
  close: 'Cerrar',
  retry: 'Intentar de nuevo',
  copy: 'Copiar: {{label}}',
  copied: 'Copiado',
  documentation: 'Documentación',
  language: 'Idioma',
  skip: 'Ir al contenido',
  menu: { open: 'Abrir el menú', close: 'Cerrar el menú', label: 'Menú principal' },
  areas: {
    channels: 'Canales',
    account: 'Cuenta',
    billing: 'Facturación',
    operators: 'Operación',
    profile: 'Tu usuario',
  },
  user: { menu: 'Menú del usuario', signOut: 'Cerrar sesión' },
  account: { choose: 'Cuenta' },
  scheme: { light: 'Usar colores claros', dark: 'Usar colores oscuros' },
  away: {
    title: 'El servicio no responde en este momento',
    text: 'Tus números siguen funcionando. Esta página se recupera sola cuando el servicio vuelve.',
  },
  failure: {
    title: 'No se pudo hacer',
    retryAfter: 'Inténtalo de nuevo en {{seconds}} s.',
    what: '¿Qué significa esto?',
    requestId: 'Petición {{requestId}}',
  },
  notFound: {
    title: 'Esta página no existe',
    text: 'Puede que la dirección esté mal escrita o que la página se haya movido.',
    home: 'Ir a tus canales',
  },
  broken: {
    title: 'Esta página ha fallado',
    text: 'Vuelve a cargarla. Si falla otra vez, escribe a soporte con el texto siguiente.',
  },
  password: {
    title: 'Introduce de nuevo tu contraseña',
    why: 'Lo que vas a hacer requiere tu contraseña. No se volverá a pedir durante 15 minutos.',
    label: 'Contraseña',
    code: 'Código de tu aplicación de autenticación',
    show: 'Mostrar lo que se escribe',
    confirm: 'Continuar',
  },
};
