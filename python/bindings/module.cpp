#include "bindings.h"

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of Pantile; private: use the functions of the package.";
  m.attr("__version__") = PANTILE_VERSION;
  // Graphs are kept alive by views of their memory (NumPy, torch); at interpreter exit some views outlive the module.
  nanobind::set_leak_warnings(false);
  pantile::python::bind_core(m);
  pantile::python::bind_graph(m);
  pantile::python::bind_generate(m);
  pantile::python::bind_sparse(m);
  pantile::python::bind_edges(m);
  pantile::python::bind_attention(m);
  pantile::python::bind_explain(m);
}
